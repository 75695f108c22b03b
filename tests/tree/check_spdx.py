# SPDX-License-Identifier: GPL-2.0-or-later
"""Every source file names its licence in its first three lines."""
import sys

import files

LINE = 'SPDX-License-Identifier: GPL-2.0-or-later'

missing = [path for path in files.sources()
           if LINE not in ''.join(files.lines(path)[:3])]
for path in missing:
    print(f'{path}: no "{LINE}" in its first three lines')
sys.exit(1 if missing else 0)
