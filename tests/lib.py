# SPDX-License-Identifier: GPL-2.0-or-later
"""What the script tests share: running mmtape, skipping with a reason, one line per test."""
import os
import signal
import subprocess
import sys
import time
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MMTAPE = os.environ.get('MMTAPE', os.path.join(ROOT, 'build', 'mmtape'))
PROGRAMS = os.environ.get('MMTAPE_PROGRAMS', os.path.join(ROOT, 'build', 'tests', 'programs'))
SAMPLES = os.path.join(ROOT, 'traces', 'samples')
TRACEFS = '/sys/kernel/tracing'
SKIPPED = 77


class Skip(Exception):
    """Raised with the reason why a test cannot run here."""


def mmtape(*args, timeout=120, **more):
    """Runs mmtape; standard output and standard error come back as text."""
    more.setdefault('stdin', subprocess.DEVNULL)
    return subprocess.run([MMTAPE, *map(str, args)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors='surrogateescape',
                          timeout=timeout, check=False, **more)


class Running(subprocess.Popen):
    """In a with statement, does not wait for a process that runs on when the test has failed."""

    def __exit__(self, kind, *rest):
        if kind:
            self.terminate()
            try:
                self.wait(timeout=30)
            except subprocess.TimeoutExpired:
                self.kill()
        super().__exit__(kind, *rest)


def expect(status, *args, **more):
    """Runs mmtape and fails unless it exits with that status."""
    done = mmtape(*args, **more)
    assert done.returncode == status, (
        f"mmtape {' '.join(map(str, args))}: exit {done.returncode}, not {status}\n"
        f"{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done


def program(name):
    """Path of a program of tests/programs."""
    return os.path.join(PROGRAMS, name)


def need_root():
    if os.geteuid() != 0:
        raise Skip('needs root')


def need_tracefs():
    need_root()
    if not os.path.isdir(os.path.join(TRACEFS, 'events', 'syscalls')):
        raise Skip(f'needs tracefs with syscalls events at {TRACEFS}')


def samples():
    """Paths of the recorded samples; none is a reason to skip."""
    found = sorted(os.path.join(SAMPLES, name) for name in os.listdir(SAMPLES)
                   if name.endswith('.mmt.zst')) if os.path.isdir(SAMPLES) else []
    if not found:
        raise Skip(f'no samples in {SAMPLES}')
    return found


def sample(part):
    """The recorded sample with that in its name."""
    for path in samples():
        if part in os.path.basename(path):
            return path
    raise Skip(f'no sample named {part}')


def store(folder, name, data):
    """Writes bytes to a file of the folder and gives its path."""
    path = os.path.join(folder, name)
    with open(path, 'wb') as f:
        f.write(data)
    return path


def load(path):
    with open(path, 'rb') as f:
        return f.read()


def wait_for(what, condition, seconds=60):
    """Returns what the condition gives as soon as it is true."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f'{what} did not happen in {seconds} s'
        time.sleep(0.01)
    return found


def children(pid):
    try:
        with open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as f:
            return [int(word) for word in f.read().split()]
    except OSError:
        return []


def is_gone(pid):
    """A zombie that a lazy init has not reaped is gone as well."""
    try:
        with open(f'/proc/{pid}/stat', encoding='ascii', errors='replace') as f:
            return f.read().rpartition(')')[2].split()[0] in 'ZX'
    except OSError:
        return True


def main(names):
    """Runs every test_… of the caller's globals(); exits 77 when all were skipped."""
    # What nohup or a background job ignores, those that are tested would ignore too.
    for number in signal.SIGHUP, signal.SIGINT, signal.SIGQUIT:
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    results = []
    for name, test in list(names.items()):
        if not name.startswith('test_') or not callable(test):
            continue
        try:
            test()
            results.append('ok')
            print('ok', name, flush=True)
        except Skip as why:
            results.append('skip')
            print('skip', name, '-', why, flush=True)
        except Exception:
            results.append('FAIL')
            print('FAIL', name, flush=True)
            traceback.print_exc(file=sys.stdout)
    if 'FAIL' in results or not results:
        sys.exit(1)
    sys.exit(0 if 'ok' in results else SKIPPED)
