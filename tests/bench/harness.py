# SPDX-License-Identifier: GPL-2.0-or-later
"""What the rows share: the programs, traces that several rows need, statistics, one line of the table."""
import json
import math
import os
import shutil
import statistics
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TARGETS = ('mmtape', 'tests/bench/native', 'tests/bench/readall', 'tests/tools/mktrace')
TRACEFS = '/sys/kernel/tracing'
CAPTURE_TRIES = 3


class Skip(Exception):
    """Raised with the reason why a row cannot run here."""


class Failed(Exception):
    """A program that the benchmark needs went wrong: its last words."""


def measured_alone(cpus):
    """
    On these CPUs and, where allowed, ahead of every ordinary task there: what else runs disturbs
    less. No real-time class: of that the kernel takes 50 ms a second away for ordinary tasks
    that wait (the fair server, throttling before it), a fifth of a run, and not from both sides alike.
    """
    os.sched_setaffinity(0, cpus)
    if os.geteuid() == 0:
        os.setpriority(os.PRIO_PROCESS, 0, -20)


class Line:
    """One line of the table. ok: True, False, or None where nothing is asked."""

    def __init__(self, what, asked, measured, ok, notes=()):
        self.what = what
        self.asked = asked
        self.measured = measured
        self.ok = ok
        self.notes = notes


def lower_bound(values):
    """
    One-sided 95% bound below the median: the largest order statistic x(k) with
    P(Binomial(n, 1/2) < k) <= 0.05. None when there are too few values for one.
    """
    n, below, rank = len(values), 0, 0
    for k in range(n):
        below += math.comb(n, k)
        if below > 0.05 * 2 ** n:
            break
        rank = k + 1
    return sorted(values)[rank - 1] if rank else None


def spread(values):
    return f'{min(values):.3f} to {max(values):.3f}'


class Bench:
    """Programs, the scale of the run (full, quick or smoke) and files made once."""

    def __init__(self, build_dir, scale):
        self.build_dir = build_dir
        self.scale = scale
        self.dir = tempfile.mkdtemp(prefix='mmtape-bench.')
        self.made = {}
        self.mmtape = os.path.join(build_dir, 'mmtape')

    def close(self):
        shutil.rmtree(self.dir, ignore_errors=True)

    def pick(self, full, quick, smoke):
        return {'full': full, 'quick': quick, 'smoke': smoke}[self.scale]

    def path(self, name):
        return os.path.join(self.dir, name)

    def tool(self, name):
        return os.path.join(self.build_dir, 'tests', name)

    def once(self, key, make):
        """The value make() returns, made at its first use."""
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]

    def run(self, *argv, cpus=None, **more):
        """Runs a program; on cpus, if given, and then before anything else there. Returns what it printed."""
        if cpus is not None:
            more['preexec_fn'] = lambda: measured_alone(cpus)
        more.setdefault('stdout', subprocess.PIPE)
        done = subprocess.run([str(a) for a in argv], stdin=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, check=False, **more)
        if done.returncode:
            said = done.stderr.decode(errors='replace').strip().splitlines()
            raise Failed(f"{os.path.basename(argv[0])} {' '.join(map(str, argv[1:3]))}…: exit "
                         f"{done.returncode}: {said[-1] if said else 'no message'}")
        return done.stdout

    def timed(self, *argv, **more):
        """Seconds from start to end of a program whose output goes nowhere."""
        start = time.monotonic()
        self.run(*argv, stdout=subprocess.DEVNULL, **more)
        return time.monotonic() - start

    def info(self, trace):
        return json.loads(self.run(self.mmtape, 'info', '--format', 'json', trace))

    def capture(self, trace, *command, watch=None):
        """Records a command without loss: with larger buffers until none is lost."""
        for attempt in range(CAPTURE_TRIES):
            size = f'{16 << 2 * attempt}M'
            process = subprocess.Popen(
                [self.mmtape, 'capture', '--quiet', '--force', '--buffer-size', size, '-o', trace, '--',
                 *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE)
            if watch:
                watch(process)
            _, said = process.communicate()
            if process.returncode:
                raise Failed(f'capture: exit {process.returncode}: '
                             f'{said.decode(errors="replace").strip()}')
            info = self.info(trace)
            if not info['lost']:
                return info
        raise Failed(f"capture: {info['lost']} events lost even with buffers of {size}")

    def link_command(self):
        """The link that is recorded, its inputs made at first use."""
        if not shutil.which('ld.lld'):
            raise Skip('no ld.lld here (Debian: lld)')

        def make():
            size = self.pick((), (), ('2', '2'))
            self.run(os.path.join(ROOT, 'scripts', 'make-link'), self.path('link'), *size)
            command = ['ld.lld', '@' + self.path('link/link.rsp')]
            self.run(*command)
            return command
        return self.once('link', make)


def need_capture():
    if os.geteuid() != 0:
        raise Skip('needs root')
    if not os.path.isdir(os.path.join(TRACEFS, 'events', 'syscalls')):
        raise Skip(f'needs tracefs with syscalls events at {TRACEFS}')


def last_cpu():
    """The CPU that single-threaded programs are pinned to."""
    return {max(os.sched_getaffinity(0))}


def interleave(first, second, pairs):
    """Pairs of what the two return, each pair in the other order than the one before."""
    found = []
    for i in range(pairs):
        if i % 2:
            b = second()
            found.append((first(), b))
        else:
            a = first()
            found.append((a, second()))
    return found


def median(values):
    return statistics.median(values)
