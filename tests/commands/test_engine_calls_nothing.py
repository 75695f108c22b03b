# SPDX-License-Identifier: GPL-2.0-or-later
"""The engine's objects need nothing but each other: no libc on the replay path."""
import os
import shutil
import subprocess

import lib

ENGINE = os.path.join(os.path.dirname(lib.MMTAPE), 'replay', 'libengine.a')
# Made by the linker: bounds of sections, and the table that position-independent code names.
LINKER = {'_GLOBAL_OFFSET_TABLE_', '__start_mmtape_engine', '__stop_mmtape_engine',
          '__start_mmtape_fixups', '__stop_mmtape_fixups', '__executable_start', '_end'}


def symbols(kind):
    done = subprocess.run(['nm', '--format=posix', kind, ENGINE], stdout=subprocess.PIPE, text=True,
                          check=True)
    return {line.split()[0] for line in done.stdout.splitlines() if line and not line.endswith(':')}


def test_nothing_outside_is_called():
    if not shutil.which('nm') or not os.path.exists(ENGINE):
        raise lib.Skip('needs nm and the build folder')
    needed = symbols('--undefined-only') - symbols('--defined-only') - LINKER
    assert not needed, f'the engine calls {sorted(needed)}'


lib.main(globals())
