# SPDX-License-Identifier: GPL-2.0-or-later
"""What doctor says of this machine, held against other ways to find it out."""
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile

import lib

NOBODY = 65534
THP = '/sys/kernel/mm/transparent_hugepage'


def read(path):
    try:
        with open(path, encoding='utf-8', errors='replace') as f:
            return f.read().strip()
    except OSError:
        return None


def choice(path):
    text = read(path)
    return text and re.search(r'\[(.*?)\]', text).group(1)


def ask(prefix=(), program=None, **more):
    """What doctor says, by name, and the whole object; its exit status must agree with it."""
    done = subprocess.run([*prefix, program or lib.MMTAPE, 'doctor', '--format=json'],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60,
                          check=False, **more)
    assert not done.stderr, done.stderr
    said = json.loads(done.stdout)
    assert done.returncode == (0 if said['capture'] and said['replay'] else 3), done.returncode
    return {check['name']: check for check in said['checks']}, said


def settings():
    """What doctor might have changed."""
    paths = glob.glob(THP + '/**/enabled', recursive=True) + ['/proc/sys/vm/overcommit_memory']
    folders = [lib.TRACEFS + '/instances', '/sys/fs/cgroup', '/sys/block']
    return [read(path) for path in paths], [sorted(os.listdir(f)) for f in folders
                                            if os.path.isdir(f)]


def test_settings_are_those_of_the_files():
    checks, _ = ask()
    mode, sizes = choice(THP + '/enabled'), glob.glob(THP + '/hugepages-*/enabled')
    assert checks['huge pages']['works'] == (mode is not None), checks['huge pages']
    if mode:
        assert checks['huge pages']['value'].startswith(mode), checks['huge pages']
    assert checks['huge page sizes']['works'] == bool(sizes)
    if sizes:
        on = sum(choice(path) != 'never' for path in sizes)
        assert f'{len(sizes)} sizes, {on} not off' in checks['huge page sizes']['value']
    swaps = (read('/proc/swaps') or '').splitlines()[1:]
    assert checks['swap']['works'] == bool(swaps)


def test_programs_and_devices():
    checks, _ = ask()
    assert checks['QEMU'].get('value') == shutil.which('qemu-system-x86_64')
    assert not checks['KVM']['works'] or os.path.exists('/dev/kvm')
    disabled = read('/proc/sys/kernel/io_uring_disabled')
    assert not checks['io_uring']['works'] or disabled in (None, '0', '1')


def test_tracing_is_what_tracefs_has():
    lib.need_tracefs()
    checks, _ = ask()
    assert checks['kprobe events']['works'] == os.path.exists(lib.TRACEFS + '/kprobe_events')
    assert checks['histogram triggers']['works'] == os.path.exists(
        lib.TRACEFS + '/events/sched/sched_switch/hist')
    if not os.path.exists(lib.TRACEFS + '/function_profile_enabled'):
        assert not checks['function profiler']['works']


def test_lock_sources_need_what_they_read():
    checks, _ = ask()
    if os.geteuid() == 0:
        assert checks['lock_stat']['works'] == os.path.exists('/proc/lock_stat')
    if not checks['kernel symbols']['works'] or not checks['perf events']['works']:
        assert not checks['profile']['works'], checks['profile']
    if os.path.isdir(lib.TRACEFS + '/events') and not os.path.isdir(
            lib.TRACEFS + '/events/lock/contention_begin'):
        assert 'contention_begin' in checks['contention']['cause'], checks['contention']


def test_capture_works_where_it_is_said_to():
    _, said = ask()
    with tempfile.TemporaryDirectory() as folder:
        done = lib.mmtape('capture', '-o', os.path.join(folder, 'x.mmt.zst'), '--', 'true')
    assert (done.returncode == 0) == said['capture'], (done.returncode, done.stderr)


def test_nothing_is_changed():
    before = settings()
    ask()
    assert settings() == before


def without_privilege(folder):
    """A copy that nobody can run, whatever the modes of the folders of the build."""
    os.chmod(folder, 0o755)
    return shutil.copy(lib.MMTAPE, folder)


def test_without_privilege_every_line_says_what_to_do():
    lib.need_root()
    with tempfile.TemporaryDirectory() as folder:
        checks, said = ask(program=without_privilege(folder), user=NOBODY, group=NOBODY,
                           extra_groups=[], cwd='/')
    assert not said['capture']
    assert 'root' in checks['tracefs']['remedy'], checks['tracefs']
    assert 'kptr_restrict' in checks['kernel symbols']['remedy'], checks['kernel symbols']
    if int(read('/proc/sys/kernel/perf_event_paranoid') or 4) > 0:
        assert 'perf_event_paranoid' in checks['perf events']['cause'], checks['perf events']
    for check in checks.values():
        assert check['works'] or (check['cause'] and check['remedy']), check


def test_tracefs_that_is_not_mounted():
    lib.need_tracefs()
    if subprocess.run(['unshare', '-m', 'true'], check=False).returncode:
        raise lib.Skip('needs mount namespaces')
    checks, said = ask(['unshare', '-m', 'sh', '-c', f'umount {lib.TRACEFS} && exec "$@"', 'sh'])
    assert not said['capture'] and said['checks']
    assert 'mount -t tracefs' in checks['tracefs']['remedy'], checks['tracefs']
    assert checks['system call events']['remedy'] == 'see tracefs'


def test_text_has_the_same_answers():
    checks, _ = ask()
    text = lib.mmtape('doctor').stdout
    for line in text.splitlines():
        assert len(line) <= 100, line
    for name, check in checks.items():
        answer = 'yes' if check['works'] else 'no'
        assert re.search(rf'^  {re.escape(name)} +{answer}\b', text, re.MULTILINE), name


def test_wrong_usage():
    assert 'operand' in lib.expect(2, 'doctor', 'x').stderr
    lib.expect(2, 'doctor', '--format=xml')


lib.main(globals())
