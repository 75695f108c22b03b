# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/cases/run boots what a case needs, keeps a result for each boot, and goes on where it ended. QEMU is played."""
import contextlib
import os
import signal
import subprocess
import sys
import tempfile

import guests
import lib

RUN = os.path.join(lib.ROOT, 'tests', 'cases', 'run')
KERNELS = ('6.12-stock', '6.12-lru-batch')
LOAD = 'pagefault1-orders'
# Lost in its first boot, well in all others.
LOST_ONCE = '''
if kernel.endswith('6.12-lru-batch.img') and boot == 0:
    say('Kernel panic - not syncing: made up\\n')
    sys.exit(0)
finish(elapsed=2 + boot)
'''


def start(folder, *args):
    """The runner, to which the fake is the only QEMU."""
    env = {**os.environ, 'PATH': folder + os.pathsep + os.environ['PATH']}
    return lib.Running([sys.executable, RUN, '--case', 'S2', '--accel', 'tcg', '--kernels', folder, '--out',
                        os.path.join(folder, 'out'), *args], env=env, stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(folder, *args):
    with start(folder, *args) as runner:
        said = runner.communicate(timeout=100)
    return subprocess.CompletedProcess(runner.args, runner.returncode, *said)


@contextlib.contextmanager
def bench(guest):
    if not os.path.exists(lib.MMTAPE + '-static'):
        raise lib.Skip('needs mmtape-static: the static libraries are not there')
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(guests.qemu(folder, guest), os.path.join(folder, 'qemu-system-x86_64'))
        for name in KERNELS:
            guests.image(os.path.join(folder, name + '.img'))
        yield folder


def kept(folder, kernel):
    return sorted(name for name in os.listdir(os.path.join(folder, 'out', LOAD, kernel))
                  if name.endswith('.json'))


def test_boots_are_kept_and_taken_up_again():
    with bench('finish(elapsed=2 + boot)') as folder:
        run(folder, '--boots', '2')
        assert [kept(folder, name) for name in KERNELS] == [['0.json', '1.json']] * 2
        assert len(guests.booted(folder)) == 4, guests.booted(folder)
        os.unlink(os.path.join(folder, 'out', LOAD, KERNELS[1], '1.json'))
        run(folder, '--boots', '2', '--resume')
        assert guests.booted(folder)[4:] == [KERNELS[1] + '.img'], guests.booted(folder)
        assert kept(folder, KERNELS[1]) == ['0.json', '1.json']


def test_lost_guest_is_tried_again():
    with bench(LOST_ONCE) as folder:
        done = run(folder, '--boots', '1')
        assert kept(folder, KERNELS[1]) == ['0.json'], done.stderr
        assert 'Kernel panic - not syncing: made up' in done.stderr, done.stderr


def test_guest_that_is_always_lost_ends_the_load():
    with bench("say('Kernel panic - not syncing: made up\\n')") as folder:
        done = run(folder, '--boots', '3')
        assert done.returncode == 1
        assert len(guests.booted(folder)) == 2 * len(KERNELS), guests.booted(folder)
        assert 'not run on 6.12-stock, 6.12-lru-batch' in done.stdout, done.stdout


def test_what_a_result_lacks_is_said():
    with bench('finish()') as folder:
        done = run(folder, '--boots', '1')
        assert done.returncode == 1 and 'not measured' in done.stdout, done.stdout


def test_signal_ends_the_guest():
    guest = "open(kernel + '.pid', 'w').write(f'{os.getpid()}.')\nsay('Linux version')\ntime.sleep(90)"
    with bench(guest) as folder:
        mark = os.path.join(folder, KERNELS[0] + '.img.pid')
        with start(folder, '--boots', '1') as runner:
            lib.wait_for('the boot', lambda: os.path.exists(mark) and lib.load(mark).endswith(b'.'))
            runner.terminate()
            runner.communicate(timeout=60)
        assert runner.returncode == 128 + signal.SIGTERM
        assert lib.is_gone(int(lib.load(mark)[:-1]))
        assert os.listdir(os.path.join(folder, 'out')) == []


lib.main(globals())
