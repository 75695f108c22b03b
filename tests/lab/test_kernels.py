# SPDX-License-Identifier: GPL-2.0-or-later
"""
Real kernels in QEMU: a Debian cloud kernel as packaged, a pair of test kernels, guests that
fail. Emulated, so that it is the same everywhere.
"""
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading

import lib

sys.path.insert(0, os.path.join(lib.ROOT, 'tests', 'cases'))
import kernels  # noqa: E402

SCRATCH = os.path.join(os.path.dirname(lib.PROGRAMS), 'lab-kernels')
# QEMU 7.2 with a thread for each CPU now and then runs code that the kernel is just patching.
TRIES = 2
SMALL = ('--accel=tcg', '--cpus=2', '--memory=512M', '--warmup=0', '--boots=1', '--timeout=4m')


@functools.lru_cache(maxsize=None)
def image(name):
    """Path of a kernel image; what is not there is a reason to skip."""
    if not shutil.which('qemu-system-x86_64'):
        raise lib.Skip('needs qemu-system-x86_64 (Debian: qemu-system-x86)')
    if not os.path.exists(lib.MMTAPE + '-static'):
        raise lib.Skip('needs mmtape-static: the static libraries are not there')
    try:
        return kernels.Kernels(None, SCRATCH).find(name)
    except (kernels.Missing, OSError) as why:
        raise lib.Skip(str(why)) from why


def any_image():
    """A test kernel, or else Debian's: for what goes wrong alike on all."""
    try:
        return image('6.12-stock-plain')
    except lib.Skip:
        return image('debian-6.12')


def run(statuses, folder, images, *more):
    words = [f'--kernel={name}={path}' for name, path in images.items()]
    for _ in range(TRIES):
        done = lib.mmtape('lab', 'run', '-f', '-o', folder, *SMALL, *words, *more, timeout=500)
        if done.returncode in statuses:
            return done
        if 'its kernel panicked' not in done.stderr:
            break
        print(done.stderr)
    raise AssertionError(done)


def load(folder, name):
    with open(os.path.join(folder, name + '.json'), encoding='utf-8') as f:
        return json.load(f)


def values(result, name):
    return [row['metrics'][name] for row in result['repetitions'] if name in row['metrics']]


def check_roles(done, result, source):
    """The kernel has all functions of roles, or their code in others, and few locks are of none."""
    assert 'has no function' not in done.stderr, done.stderr
    shares = values(result, f'lock.unresolved.share_of_{source}')
    assert shares and max(shares) <= 0.02, (result['provenance']['kernel'], shares, result['provenance']['sources'])


def test_debian():
    with tempfile.TemporaryDirectory() as folder:
        run((0,), folder, {'debian': image('debian-6.12')}, '--sources=none', lib.sample('forks'))
        result = load(folder, 'debian')
    at = result['provenance']
    assert at['kernel'].endswith('cloud-amd64') and at['kernel'].startswith('6.12'), at['kernel']
    assert at['cpus'] == '2' and at['trace'] == 'forks.mmt.zst' and at['spinlock'] == 'queued'
    assert at['lab']['emulated'] and at['lab']['virtual_cpus'] == 2
    assert result['fidelity']['mismatches'] == 0 and len(values(result, 'elapsed')) == 1


def test_pair():
    """The same order of folios on both: only one of them batches their way to the LRU."""
    images = {'stock': image('6.12-stock'), 'batch': image('6.12-lru-batch')}
    with tempfile.TemporaryDirectory() as folder:
        done = run((0,), folder, images, '--sources=lock_stat', lib.sample('pagefault1-4k'), '--no-time',
                   '--no-latency', '--mthp-sweep=64k')
        results = [load(folder, name) for name in images]
        for result in results:
            check_roles(done, result, 'lock_stat')
        stock, batch = (values(result, 'lock.lru.acquisitions_per_folio')[0] for result in results)
        done = lib.mmtape('diff', *(os.path.join(folder, name + '.json') for name in images))
    assert 0.9 < stock < 1.5 and batch < 0.2, (stock, batch)
    assert done.returncode == 3 and 'lock.lru.acquisitions' in done.stdout, done.stdout


def test_roles():
    """By entries, the one source of acquisitions that Debian's kernels have."""
    images = {name: image(name) for name in ('debian-6.1', 'debian-6.12')}
    with tempfile.TemporaryDirectory() as folder:
        # 3: probes were missed, which voids verdicts and is none of this.
        done = run((0, 3), folder, images, '--sources=entries', lib.sample('storm'), '--touch=dense',
                   '--no-time', '--no-latency')
        for name in images:
            check_roles(done, load(folder, name), 'entries')


def test_two_builds():
    """Counted on one image and timed on the other; in the guest there are swap and nodes."""
    both = f"{image('6.12-stock')},{image('6.12-stock-plain')}"
    with tempfile.TemporaryDirectory() as folder:
        run((0,), folder, {'both': both}, '--sources=lock_stat', '--swap=64M', '--numa=2',
            lib.sample('forks'), '--no-latency')
        result = load(folder, 'both')
    passes = [row['pass'] for row in result['repetitions']]
    assert passes == ['time', 'lock_stat'], passes
    at = result['provenance']
    assert at['numa_nodes'] == '2' and int(at['swap']) == (64 << 20) - 4096, at['swap']
    assert not at['debug_locks'] and at['counted_on']['debug_locks'], at['counted_on']


def test_command():
    with tempfile.TemporaryDirectory() as folder:
        run((0,), folder, {'a': any_image()}, 'measure', '--sources=none', '--', lib.MMTAPE + '-static',
            '--version')
        result = load(folder, 'a')
        assert len(values(result, 'elapsed')) == 1
        assert result['provenance']['trace_id'].startswith('command-')


def test_shell():
    """The console is ours: a command is typed once the guest says that it listens."""
    path = any_image()
    if not os.path.exists('/bin/busybox'):
        raise lib.Skip('needs a static busybox (Debian: busybox-static)')
    shell = subprocess.Popen([lib.MMTAPE, 'lab', 'shell', '--accel=tcg', '--memory=512M',
                              f'--kernel=a={path}', __file__], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    watchdog = threading.Timer(120, shell.kill)
    watchdog.start()
    said = b''
    while b"commands." not in said:
        byte = shell.stdout.read(1)
        assert byte, said[-2000:]
        said += byte
    shell.stdin.write(b'ls; nproc; mmtape --version; exit\n')
    shell.stdin.flush()
    said = shell.stdout.read().decode(errors='replace').splitlines()
    watchdog.cancel()
    assert shell.wait() == 0
    assert {os.path.basename(__file__), '4', lib.mmtape('--version').stdout.strip()} <= {line.strip() for line in said}, said


def fails(*more, trace='forks'):
    """What is said of a guest that gives no result; options that the lab does not know are the replay's."""
    with tempfile.TemporaryDirectory() as folder:
        replay = [word for word in more if word.startswith(('--force', '--copies'))]
        done = run((1,), folder, {'a': any_image()}, *(word for word in more if word not in replay),
                   lib.sample(trace), '--no-latency', *replay)
        assert not os.listdir(folder)
    print(done.stderr, end='')
    assert done.stderr.startswith('mmtape: a boot 0: '), done.stderr
    return done.stderr


def test_panic():
    text = fails('--append=rdinit=/nonexistent')
    assert 'CONFIG_BLK_DEV_INITRD' in text.splitlines()[0], text
    assert sum('Kernel panic' in line for line in text.splitlines()[1:]) >= 1, text


def test_hang():
    text = fails('--timeout=25s', '--repeat=10000', trace='ld.lld')
    assert ' 25 s' in text.splitlines()[0], text


def test_too_little_memory():
    text = fails('--memory=192M', '--copies=4', trace='pagefault1-4k')
    assert 'a replay needs' in text.splitlines()[0], text
    text = fails('--memory=192M', '--sources=none', '--force', '--copies=4', trace='pagefault1-4k')
    assert 'killed by signal 9' in text.splitlines()[0] or 'memory' in text.splitlines()[0], text
    assert 'Out of memory: Killed process' in text or 'invoked oom-killer' in text, text


lib.main(globals())
