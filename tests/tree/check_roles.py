# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/locks.md lists the roles of the table of functions, and those only; and the roles of the rest."""
import re
import sys

import files

document = ''.join(files.lines('docs/locks.md'))
section = document.split('## Roles')[1].split('## Sources')[0]
listed = set(re.findall(r'^\| `([a-z-]+)` \|', section, re.M))
table = set(re.findall(r'^#define ROLE "([a-z-]+)"', ''.join(files.lines('capture/roles_table.c')), re.M))
others = set(re.findall(r'", "([a-z-]+)" \}', ''.join(files.lines('capture/roles_other.c'))))

bad = []
bad += [f'docs/locks.md: no row for role {r} of capture/roles_table.c' for r in table - listed]
bad += [f'docs/locks.md: role {r} is not in capture/roles_table.c' for r in listed - table]
bad += [f'docs/locks.md: no word of role {r} of capture/roles_other.c'
        for r in others if not re.search(rf'\b{r}\b', section)]
print('\n'.join(bad), end='\n' if bad else '')
if not table or not others:
    sys.exit('no roles found: has the table another form now?')
sys.exit(1 if bad else 0)
