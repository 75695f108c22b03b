# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/metrics.md has a line, with the same unit, for every row of the table of metrics."""
import re
import sys

import files

source = ''.join(files.lines('analysis/metrics.c'))
rows = re.findall(r'^\t\{ "([^"]+)", "([^"]*)", BETTER_(\w+), (\w+) \},$', source, re.MULTILINE)
document = {}
for line in files.lines('docs/metrics.md'):
    cells = [cell.strip() for cell in line.strip().strip('|').split('|')]
    if len(cells) >= 3 and cells[0].startswith('`'):
        document[cells[0].strip('`')] = (cells[1], cells[2])
bad = 0 if rows else 1
for pattern, unit, better, primary in rows:
    want = (unit or 'count', better.lower() if better != 'NONE' else 'none')
    if document.get(pattern) != want:
        print(f'docs/metrics.md: `{pattern}` is {document.get(pattern)}, not {want}')
        bad += 1
sys.exit(1 if bad else 0)
