# SPDX-License-Identifier: GPL-2.0-or-later
"""No source file is longer than 500 lines, and no line of C longer than 100 columns."""
import sys

import files

MAX_LINES = 500
MAX_COLUMNS = 100
TAB = 8

bad = 0
for path in files.sources():
    lines = files.lines(path)
    if len(lines) > MAX_LINES:
        print(f'{path}: {len(lines)} lines, at most {MAX_LINES}')
        bad += 1
    for number, line in enumerate(lines, 1):
        if path.endswith(('.c', '.h')) and len(line.rstrip('\n').expandtabs(TAB)) > MAX_COLUMNS:
            print(f'{path}:{number}: longer than {MAX_COLUMNS} columns')
            bad += 1
sys.exit(1 if bad else 0)
