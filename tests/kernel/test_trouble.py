# SPDX-License-Identifier: GPL-2.0-or-later
"""Trouble while replaying: hostile operations, killed processes, no privilege, a full disk."""
import json
import os
import random
import shutil
import signal
import subprocess
import tempfile

import lib
from synthetic import FORK, ROOT, THREAD, Synthetic

ONCE = ('--repeat=1', '--warmup=0', '--no-latency', '--quiet', '--stuck-after=20s')
THP = '/sys/kernel/mm/transparent_hugepage/'
SETTINGS = (THP + 'enabled', THP + 'khugepaged/scan_sleep_millisecs',
            THP + 'khugepaged/pages_to_scan', '/proc/sys/kernel/numa_balancing')
TOP = 0x7ffffffff000  # end of user space
# What lies where in a replay: replay/plan.h. And what kernels and programs use.
PLACES = (0x1000, 0x400000, 0x010000000000, 0x01fffffff000, 0x020000000000, 0x020000001000,
          0x02fffffff000, 0x030000000000, 0x040000000000, 0x4ffffffff000, 0x500000000000,
          0x555555554000, 0x7f0000000000, 0x7ffff7dd0000, 0x7ffffffde000, TOP - 0x1000)
BEYOND = (TOP, 0x800000000000, 0xffff800000000000, 0xffffffffff600000, (1 << 64) - 0x1000)
LENGTHS = (0, 1, 0x1000, 0x200000, 1 << 40, 1 << 46, 1 << 47, 1 << 63, (1 << 64) - 0x1000)
EINVAL, ENOMEM = -22, -12


def settings():
    found = []
    for path in SETTINGS:
        if os.path.exists(path):
            with open(path, encoding='ascii') as f:
                found.append(f.read())
    return found


def other_thp():
    with open(SETTINGS[0], encoding='ascii') as f:
        return 'never' if '[always]' in f.read() else 'always'


def replayed(made, folder, *options):
    """Status, lines, and the result where there is one; it never crashes or hangs."""
    trace, out = made.save(os.path.join(folder, 't')), os.path.join(folder, 'r')
    done = lib.mmtape('replay', *ONCE, '-f', '-o', out, *options, trace, timeout=100)
    assert done.returncode in (0, 1, 3), (options, done)
    lines = done.stderr.splitlines()
    assert lines or not done.returncode, done
    if done.returncode == 1:
        assert not os.path.exists(out) or not os.path.getsize(out), done
        assert 'killed' not in done.stderr and 'signal' not in done.stderr, done.stderr
        return done.returncode, lines, None
    with open(out, encoding='utf-8') as f:
        result = json.load(f)['fidelity']
    os.unlink(out)
    assert result['operations_done'] == result['operations'] > 0, result
    return done.returncode, lines, result


def assault(place, length):
    """Every call that could hurt, there and claimed to have worked."""
    made = Synthetic()
    mine = 0x7f0000000000 if place > 0x500000000000 else 0x020000000000
    made.call('mmap', mine, mine, 0x4000, 3, 0x32, -1, 0)
    made.point('fault_user', mine, 6)
    made.call('mmap', place, place, 0x10000, 3, 0x32, -1, 0)
    made.point('fault_user', place, 6)
    made.call('mprotect', 0, place, length, 0)
    made.call('madvise', 0, place, length, 4)
    made.call('munmap', 0, place, length)
    made.call('mremap', place, mine, 0x4000, 0x4000, 3, place)
    made.call('mremap', mine, place, 0x4000, length, 3, mine)
    made.call('brk', place, place)
    made.call('mmap', place, place, length, 7, 0x32, -1, 0)
    made.call('munmap', 0, place, length)
    made.call('munmap', 0, 0, 1 << 47)
    made.point('fault_user', mine, 6)
    made.point('fault_user', place, 4)
    made.point('exit', 1)
    return made


def test_operations_never_reach_the_replayer():
    ran = 0
    with tempfile.TemporaryDirectory() as folder:
        for i, place in enumerate(PLACES):
            for where in 'traced', 'kernel':
                length = (0x10000, 0x200000, 1 << 40)[i % 3]
                ran += replayed(assault(place, length), folder, '--place', where)[0] != 1
    assert ran >= len(PLACES), f'only {ran} of {2 * len(PLACES)} were replayed'


def test_impossible_lengths_and_addresses_are_survived():
    ran = 0
    with tempfile.TemporaryDirectory() as folder:
        for i, length in enumerate(LENGTHS):
            ran += replayed(assault(0x010000000000, length), folder)[0] != 1
            place = BEYOND[i % len(BEYOND)]
            replayed(assault(place, length), folder)
    assert ran >= 3, ran


def test_failures_at_impossible_places_are_compared():
    """What failed in the recording is no reason to refuse, and fails again."""
    made = Synthetic()
    made.call('mmap', 0x7f0000000000, 0, 0x4000, 3, 0x22, -1, 0)
    made.point('fault_user', 0x7f0000000000, 6)
    for length in (1 << 47, (1 << 64) - 0x1000):
        made.call('munmap', EINVAL, 0x7f0000000000, length)
        made.call('mprotect', ENOMEM, 0x7f0000000000, length, 3)
    made.call('munmap', EINVAL, 0xffff800000000000, 0x1000)
    made.point('exit', 1)
    with tempfile.TemporaryDirectory() as folder:
        status, lines, result = replayed(made, folder)
    assert status in (0, 3) and result['touches'] == 1, (status, lines, result)


def wild(seed):
    """Calls with arguments from everywhere, in a few tasks."""
    dice = random.Random(seed)
    places = dice.sample(PLACES + BEYOND + (0,), dice.choice((1, 2, 3)))
    lengths = [0x1000, 0x5000, 0x200000, dice.choice(LENGTHS)]
    tasks, made = [ROOT, ROOT + 1, ROOT + 2], Synthetic()
    for task in tasks[1:]:
        made.point('newtask', task, dice.choice((FORK, THREAD)))
    for _ in range(60):
        task, at, size = dice.choice(tasks), dice.choice(places), dice.choice(lengths)
        at += dice.randrange(64) * 0x1000
        result = 0 if dice.random() < .8 else dice.choice((EINVAL, ENOMEM))
        flags = dice.choice((0x32, 0x100022, 0x22, 0x31, 0x8032, 0x1032))
        kind = dice.randrange(9)
        if kind < 2:
            made.point('fault_user', at, dice.choice((4, 6, 7)), task=task)
        elif kind == 2:
            made.call('mmap', result or at, at, size, 3, flags, -1, 0, task=task)
        elif kind == 3:
            to = dice.choice(places)
            made.call('mremap', result or to, at, size, dice.choice(lengths), 3, to, task=task)
        elif kind == 4:
            made.call('brk', at, at, task=task)
        elif kind == 5:
            made.call('mprotect', result, at, size, dice.choice((0, 1, 3)), task=task)
        elif kind == 6:
            made.call('madvise', result, at, size, dice.choice((4, 8, 10, 14, 100, 101)), task=task)
        else:
            made.call('munmap', result, at, size, task=task)
    return made


def test_wild_traces_are_survived():
    with tempfile.TemporaryDirectory() as folder:
        statuses = [replayed(wild(seed), folder, '--place',
                             ('traced', 'kernel', 'thp-aligned')[seed % 3], '--order',
                             ('deps', 'serial')[seed % 2])[0] for seed in range(60)]
    assert len(statuses) - statuses.count(1) > 20, statuses


def test_crowds_within_the_bound_are_replayed():
    """A chain of forks and a crowd of threads: all tasks there are are counted."""
    with tempfile.TemporaryDirectory() as folder:
        for flags, deep in (FORK, True), (FORK, False), (THREAD, False):
            made = Synthetic()
            for i in range(300):
                made.point('newtask', ROOT + 1 + i, flags, task=ROOT + i if deep else ROOT)
            status, _, result = replayed(made, folder)
            assert status == 0 and result['plan']['tasks'] == 301, (flags, deep, result)


def killed(pick, number, *options, name='handover'):
    """Kills one process in the middle of a replay: all end, and what was set is known."""
    before, during = settings(), other_thp()
    with lib.Running([lib.MMTAPE, 'replay', '--quiet', '--repeat=9999', '--no-latency',
                      '--stuck-after=2s', '--thp', during, *options, lib.sample(name)],
                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                     stderr=subprocess.PIPE, text=True) as run:
        found = []

        def is_running():
            conductor = lib.children(run.pid)
            spaces = lib.children(conductor[0]) if conductor else []
            found[:] = [run.pid, *conductor[:1], *spaces[:1]]
            return len(found) == 3 and f'[{during}]' in settings()[0]
        lib.wait_for('replaying', is_running)
        if lib.is_gone(found[pick]):  # between two repetitions; a zombie takes signals without effect
            os.kill(run.pid, signal.SIGTERM)
        else:
            os.kill(found[pick], number)
        stderr = run.communicate(timeout=30)[1]
    lib.wait_for('the end of all processes', lambda: all(map(lib.is_gone, found)))
    return before, run.returncode, stderr.splitlines()


def test_killed_processes_end_the_replay_with_a_line():
    lib.need_root()
    for pick, name in (1, 'conductor'), (2, 'space'):
        for number in signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV:
            before, status, lines = killed(pick, number)
            assert status == 1 and 'signal' in lines[-1], (name, number, lines)
            assert settings() == before, (name, number)


def test_a_sent_signal_is_no_fault():
    """Where nearly all is touches, whose own faults are survived."""
    lib.need_root()
    for number in signal.SIGSEGV, signal.SIGBUS:
        before, status, lines = killed(2, number, name='pagefault1-4k')
        assert status == 1 and 'signal' in lines[-1], (number, lines)
        assert settings() == before, number


def test_a_stopped_process_is_noticed():
    lib.need_root()
    before, status, lines = killed(2, signal.SIGSTOP)
    assert status == 1 and any('no progress' in line or 'signal' in line for line in lines), lines
    assert settings() == before


def test_a_killed_replay_is_cleaned_up_by_the_next_start():
    lib.need_root()
    # So slow that nothing ends on its own.
    before, status, _ = killed(0, signal.SIGKILL, '--pace=x0.001')
    assert status == -signal.SIGKILL and settings() != before
    done = lib.expect(0, 'replay', '--repeat=1', '--warmup=0', '--no-latency', lib.sample('forks'))
    assert settings() == before, done.stderr
    assert 'put' in done.stderr or 'restored' in done.stderr, done.stderr


def test_a_signal_ends_verify():
    """Instances, settings and scratch files are gone at once."""
    lib.need_tracefs()
    before = settings()
    with tempfile.TemporaryDirectory() as folder:
        with lib.Running([lib.MMTAPE, 'verify', lib.sample('ld.lld')], stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                         env={**os.environ, 'TMPDIR': folder}) as run:
            lib.wait_for('the replay', lambda: lib.children(run.pid))
            run.send_signal(signal.SIGTERM)
            stderr = run.communicate(timeout=30)[1]
        assert run.returncode == 1 and stderr.count('\n') == 1, (run.returncode, stderr)
        assert not os.listdir(folder), os.listdir(folder)
    instances = os.listdir(os.path.join(lib.TRACEFS, 'instances'))
    assert not [name for name in instances if name.startswith(f'mmtape-{run.pid}-')], instances
    assert settings() == before


def as_nobody(*args):
    lib.need_root()
    if not shutil.which('setpriv'):
        raise lib.Skip('needs setpriv')
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        program = shutil.copy(lib.MMTAPE, folder)
        trace = shutil.copy(lib.sample('forks'), folder)
        os.chmod(trace, 0o644)
        return subprocess.run(['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups',
                               program, *args, trace], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False, timeout=100)


def test_without_privilege():
    before = settings()
    done = as_nobody('replay', *ONCE)
    assert done.returncode == 0 and not done.stderr.count('\n'), done
    for option in '--thp=' + other_thp(), '--mthp=64k=always':
        done = as_nobody('replay', *ONCE, option)
        assert done.returncode == 1 and done.stderr.count('\n') == 1, done
        assert 'transparent_hugepage' in done.stderr and 'root' in done.stderr, done
    done = as_nobody('verify')
    assert done.returncode == 1 and done.stderr.count('\n') == 1 and 'root' in done.stderr, done
    assert settings() == before


def test_a_result_that_does_not_fit():
    """What was measured is said all the same."""
    lib.need_root()
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, 'r')
        done = subprocess.run(
            ['unshare', '-m', 'sh', '-ec', f'mount -t tmpfs -o size=8k none {folder}\n'
             f'{lib.MMTAPE} replay --repeat=1 --warmup=0 --no-latency -o {out} {lib.sample("forks")} '
             f'|| echo status $? $(ls {folder})'],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if 'unshare:' in done.stderr or 'mount:' in done.stderr:
            raise lib.Skip('may not mount a tmpfs')
    assert done.stdout == 'status 1\n', done
    assert 'no room left' in done.stderr and out in done.stderr, done
    assert 'elapsed' in done.stderr, done


lib.main(globals())
