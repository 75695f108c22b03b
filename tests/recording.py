# SPDX-License-Identifier: GPL-2.0-or-later
"""Records for tests, and reads traces back through tests/tools/readtrace."""
import contextlib
import os
import subprocess
import tempfile
from collections import namedtuple

import lib

READTRACE = os.path.join(os.path.dirname(lib.PROGRAMS), 'tools', 'readtrace')
INSTANCES = os.path.join(lib.TRACEFS, 'instances')

Event = namedtuple('Event', 'time cpu task side name flags args')
Map = namedtuple('Map', 'start end offset file prot kind')
Maps = namedtuple('Maps', 'process flags time maps')
Loss = namedtuple('Loss', 'cpu events start end')

READ_LATE, FROM_HEADERS = 1, 2
STATUS_KNOWN, INTERRUPTED = 1, 2
KIND_FILE, KIND_STACK = 1, 3


class Trace:
    """All of a trace in memory."""

    def __init__(self, path):
        self.meta, self.stats = {}, {'start': {}, 'end': {}}
        self.names, self.losses, self.maps, self.events = [], [], [], []
        self.tail = self.status = None
        done = subprocess.run([READTRACE, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, errors='replace', check=False)
        assert done.returncode == 0, (path, done.returncode, done.stderr)
        for line in done.stdout.splitlines():
            head, rest = line.split(' ', 1)
            getattr(self, '_' + head)(rest)

    def _meta(self, rest):
        key, value = rest.split(' ', 1)
        self.meta[key] = value

    def _stat(self, rest):
        when, key, value = rest.split(' ', 2)
        self.stats[when][key] = value

    def _name(self, rest):
        task, name = rest.split(' ', 1)
        self.names.append((int(task), name))

    def _loss(self, rest):
        self.losses.append(Loss(*map(int, rest.split())))

    def _maps(self, rest):
        self.maps.append(Maps(*map(int, rest.split()), []))

    def _map(self, rest):
        words = rest.split()
        self.maps[-1].maps.append(Map(*(int(w, 16) for w in words[:5]), int(words[5])))

    def _event(self, rest):
        time, cpu, task, side, name, flags, *args = rest.split()
        self.events.append(Event(int(time), int(cpu), int(task), side, name, int(flags),
                                 tuple(int(a, 16) for a in args)))

    def _tail(self, rest):
        self.tail = dict(zip(('status', 'flags', 'events', 'lost'), map(int, rest.split())))

    def _status(self, rest):
        self.status = dict(zip(('complete', 'damage', 'events', 'lost'), map(int, rest.split())))

    def select(self, name=None, side=None, task=None):
        return [e for e in self.events if (name is None or e.name == name) and
                (side is None or e.side == side) and (task is None or e.task == task)]

    def counted(self, name):
        """What the recorder counted."""
        return int(self.stats['end']['recorder/' + name])


def own_instances():
    return [n for n in os.listdir(INSTANCES) if n.startswith('mmtape-')]


def instances_of(pid):
    return [n for n in own_instances() if n.startswith(f'mmtape-{pid}-')]


@contextlib.contextmanager
def scratch():
    with tempfile.TemporaryDirectory(prefix='mmtape-test-') as path:
        yield path


def record(path, *command, options=(), status=0, **more):
    """Records and gives (trace, the finished process)."""
    lib.need_tracefs()
    done = lib.expect(status, 'capture', '-o', path, *options, '--', *command, **more)
    return Trace(path), done


def start(path, *command, options=(), **more):
    """Begins a recording in the background."""
    lib.need_tracefs()
    more.setdefault('stdin', subprocess.DEVNULL)
    return subprocess.Popen([lib.MMTAPE, 'capture', '-o', path, *options, '--', *command],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
