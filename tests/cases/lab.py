# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots: one result for each load, kernel and boot, kept in a folder so that a run can go on where another ended."""
import os
import shlex
import shutil
import subprocess
import tempfile

import kernels
from loads import LATENCY

ROOT = kernels.ROOT
MMTAPE = os.environ.get('MMTAPE', os.path.join(ROOT, 'build', 'mmtape'))
# A boot is a replicate: one repetition in each.
ONCE = ('--cpus', '4', '--repeat', '1', '--warmup', '0')
NO_LATENCY = '--no-latency'
TIMEOUT = '10m'
TRIES = 2


def before(load):
    """Options of the lab."""
    sources = 'none' if load.sources in ('', LATENCY) else load.sources
    return [*ONCE, *load.lab, '--sources', sources]


def behind(load):
    """The trace's name, and options of the replay."""
    words = [f'traces/samples/{load.sample}.mmt.zst', *load.replay]
    return words if load.sources == LATENCY else [*words, NO_LATENCY]


def shown(load, names, boots, images=lambda name: f'linux-{name}.bzImage'):
    """The command line for a reader: all kernels, all boots."""
    words = ['mmtape', 'lab', 'run']
    for name in names:
        words += ['--kernel', f'{name}={images(name)}']
    return shlex.join([*words, '--boots', str(boots), *before(load), '-o', f'{load.name}/',
                       *behind(load)])


def run_out(command):
    """What a command says. Asked to end as the runner ends, so that it ends its guests."""
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors='replace')
    try:
        return process.communicate()[0].strip()
    except BaseException:
        process.terminate()
        process.communicate()
        raise


class Lab:
    """accel: as for `mmtape lab run`; say: a function that takes a line of progress."""

    def __init__(self, out, images, accel='auto', fresh=False, say=print):
        self.out = out
        self.images = images
        self.accel = accel
        self.fresh = fresh
        self.say = say
        self.begun = set()

    def path(self, load, name, boot):
        return os.path.join(self.out, load.name, name, f'{boot}.json')

    def key(self, load, name):
        """What a kept result must have been made with."""
        return shlex.join([*before(load), *behind(load), name]) + '\n'

    def have(self, load, name, boot):
        """Whether there is a result of that boot, made as it would be made now."""
        path = self.path(load, name, boot)
        if not os.path.exists(path):
            return False
        with open(path[:-len('.json')] + '.key', encoding='utf-8') as f:
            return f.read() == self.key(load, name)

    def results(self, load, name):
        """The paths of all boots that there are."""
        found, boot = [], 0
        while self.have(load, name, boot):
            found.append(self.path(load, name, boot))
            boot += 1
        return found

    def command(self, load, images, folder):
        words = [MMTAPE, 'lab', 'run', '--boots', '1', '--timeout', TIMEOUT, '--quiet', '--accel',
                 self.accel]
        for name, image in images.items():
            words += ['--kernel', f'{name}={image}']
        return [*words, *before(load), '-o', folder, *behind(load)]

    def keep(self, load, name, boot, made):
        path = self.path(load, name, boot)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path[:-len('.json')] + '.key', 'w', encoding='utf-8') as f:
            f.write(self.key(load, name))
        os.replace(made, path)

    def attempt(self, load, names, boot):
        """Boots each kernel; what came is kept. Returns what was said."""
        images = {name: self.images.find(name) for name in names}
        with tempfile.TemporaryDirectory(dir=self.out) as folder:
            said = run_out(self.command(load, images, folder))
            for name in names:
                made = os.path.join(folder, f'{name}.json')
                if os.path.exists(made):
                    self.keep(load, name, boot, made)
        return said

    def boot(self, load, names, boot):
        """
        One boot of each kernel that has none of that number yet, tried again when a guest
        was lost; False where there is still no result.
        """
        for _ in range(TRIES):
            left = [name for name in names if not self.have(load, name, boot)]
            if not left:
                return True
            said = self.attempt(load, left, boot)
            if said:
                self.say(said)
        return all(self.have(load, name, boot) for name in names)

    def run(self, load, names, boots):
        """Boots alternate between the kernels. Stops at the first boot that fails."""
        for name in names:
            if self.fresh and (load, name) not in self.begun:
                shutil.rmtree(os.path.join(self.out, load.name, name), ignore_errors=True)
            self.begun.add((load, name))
        for boot in range(boots):
            self.say(f"{load.name}: boot {boot + 1} of {boots}, {', '.join(names)}")
            if not self.boot(load, names, boot):
                return False
        return True
