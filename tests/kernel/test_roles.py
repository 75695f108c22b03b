# SPDX-License-Identifier: GPL-2.0-or-later
"""
The running kernel has every function of a role, or one that has its code; and where lock entries can
be counted, at most 2% of them are of no role.
"""
import gzip
import os
import re
import subprocess

import lib

LOCK_SOURCE = os.path.join(os.path.dirname(lib.PROGRAMS), 'tools', 'lock_source')


def lock_source(*args):
    return subprocess.run([LOCK_SOURCE, *args], stdout=subprocess.PIPE, text=True, timeout=300,
                          check=False)


def config():
    """The text of the kernel's configuration, '' if it is not to be had."""
    release = os.uname().release
    if os.path.exists('/proc/config.gz'):
        with gzip.open('/proc/config.gz', 'rt') as f:
            return f.read()
    path = f'/boot/config-{release}'
    return open(path, encoding='utf-8').read() if os.path.exists(path) else ''


def test_functions_of_roles_are_in_this_kernel():
    done = lock_source('--roles')
    assert done.returncode == 0, done.stdout
    options = config()
    bad = []
    for function, role, why in re.findall(r'^missing (\S+) (\S+) (\S+)$', done.stdout, re.M):
        if why == 'certain' or f'\n{why}=y\n' in options:
            bad.append(f'{function} of {role} ({why})')
    assert not bad, f'{os.uname().release} lacks {", ".join(bad)}'


def test_unresolved_share():
    lib.need_root()
    done = lock_source('entries', lib.program('pagefault1'), '--size=64M', '--small')
    if done.returncode == lib.SKIPPED:
        raise lib.Skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout
    share = float(re.search(r'^unresolved (\S+)$', done.stdout, re.M)[1])
    assert share <= 0.02, done.stdout


lib.main(globals())
