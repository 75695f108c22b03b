# SPDX-License-Identifier: GPL-2.0-or-later
"""Links between documents lead somewhere; every manual page is built."""
import os
import re
import sys

import files

bad = 0
for path in files.documents():
    for link in re.findall(r'\]\(([^)#\s]+)(?:#[^)]*)?\)', ''.join(files.lines(path))):
        target = os.path.join(files.ROOT, os.path.dirname(path), link)
        if '://' not in link and not os.path.exists(target):
            print(f'{path}: links to {link}, which is not there')
            bad += 1

manuals = set(re.findall(r"^  '([\w-]+)',$", ''.join(files.lines('docs/man/meson.build')),
                         re.MULTILINE))
pages = {os.path.basename(path)[:-len('.1.scd')] for path in files.sources()
         if path.endswith('.1.scd')}
for name in sorted(pages ^ manuals):
    print(f'docs/man: {name}.1.scd is not both there and in meson.build')
    bad += 1
sys.exit(1 if bad else 0)
