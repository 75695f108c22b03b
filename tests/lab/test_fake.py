# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's own work, with a QEMU that plays the guest: turns, results, failures, signals, bad input."""
import contextlib
import json
import os
import signal
import subprocess
import tempfile

import guests
import lib
from synthetic import ROOT, Synthetic

SILENT = 'time.sleep(100)'
GETATTR = 315       # sched_getattr() of x86-64
FAST = ('--accel=tcg', '--timeout=1s')


class Bench:
    """A folder with images a and b, a trace, and a fake QEMU."""

    def __init__(self, folder, guest):
        self.folder = folder
        self.out = os.path.join(folder, 'out')
        self.qemu = guests.qemu(folder, guest)
        self.images = {name: guests.image(os.path.join(folder, name + '.img')) for name in 'ab'}
        synthetic = Synthetic()
        synthetic.call('mmap', 0x7f0000000000, 0, 0x10000, 3, 0x22, -1, 0)
        self.trace = synthetic.save(os.path.join(folder, 't.mmt.zst'))

    def words(self, *more, kernels='a', behind=()):
        named = [f'--kernel={name}={self.images[name]}' for name in kernels]
        return ['lab', 'run', '--qemu', self.qemu, '-o', self.out, '--accel=tcg', '--memory=128M',
                *named, *more, self.trace, *behind]

    def run(self, status, *more, **which):
        return lib.expect(status, *self.words(*more, **which))

    def boots(self, name):
        """Boots in the result of that kernel."""
        with open(os.path.join(self.out, name + '.json'), encoding='utf-8') as f:
            return [row['boot'] for row in json.load(f)['repetitions']]

    def booted(self):
        return ''.join(image[0] for image in guests.booted(self.folder))


@contextlib.contextmanager
def bench(guest):
    if not os.path.exists(lib.MMTAPE + '-static'):
        raise lib.Skip('needs mmtape-static: the static libraries are not there')
    with tempfile.TemporaryDirectory() as folder:
        yield Bench(folder, guest)


def one_line(done, *parts):
    """One line of message; the end of a console, indented, may stand below it."""
    lines = [line for line in done.stderr.splitlines() if not line.startswith('    ')]
    lines = [line for line in lines if not line.endswith(': no result')]
    assert len(lines) == 1, done.stderr
    for part in parts:
        assert part in lines[0], f'no {part!r} in {lines[0]!r}'


def test_turns():
    with bench('finish()') as b:
        b.run(0, '--boots=3', kernels='ab')
        assert b.booted() == 'abbaab', b.booted()
        assert b.boots('a') == b.boots('b') == [0, 1, 2]
        assert sorted(os.listdir(b.out)) == ['a.json', 'b.json']


def test_provenance():
    with bench('finish()') as b:
        b.run(0, '--boots=1', '--append=x=y', behind=('--copies=2',))
        with open(os.path.join(b.out, 'a.json'), encoding='utf-8') as f:
            at = json.load(f)['provenance']['lab']
        assert at['accel'] == 'tcg' and at['emulated'] is True and at['cpu'] == 'max,-hypervisor'
        assert at['virtual_cpus'] == 4 and at['real_cpus'] == len(os.sched_getaffinity(0))
        assert at['append'] == 'x=y' and at['command'][-1] == '--copies=2'


def test_long_slices():
    ask = ("import ctypes, struct; b = ctypes.create_string_buffer(48); "
           f"ctypes.CDLL(None).syscall({GETATTR}, 0, b, 48, 0); "
           "open(os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), 'slice'), 'w')"
           ".write(str(struct.unpack('IIQiIQQQ', b.raw)[5])); ")
    if tuple(map(int, os.uname().release.split('.')[:2])) < (6, 12):
        raise lib.Skip('a task can ask for a slice since Linux 6.12')
    with bench(ask + 'finish()') as b:
        b.run(0, '--boots=1')
        asked = lib.load(os.path.join(b.folder, 'slice'))
        assert asked == b'100000000', asked


def test_a_failed_boot_keeps_the_others():
    with bench('finish() if boot != 1 else say("Kernel panic - not syncing: once")') as b:
        done = b.run(3, '--boots=3')
        assert 'a boot 1: its kernel panicked: once' in done.stderr
        assert b.boots('a') == [0, 2]
        b.run(0, '--boots=3', '--resume')
        assert b.booted() == 'aaaa' and sorted(b.boots('a')) == [0, 1, 2]


def test_a_kernel_that_never_works():
    with bench('finish() if kernel.endswith("b.img") else say("Kernel panic - not syncing: x")') as b:
        done = b.run(1, '--boots=3', kernels='ab')
        assert b.booted() == 'abbb', b.booted()
        assert b.boots('b') == [0, 1, 2] and 'a: no result' in done.stderr


def test_an_incomplete_replay():
    with bench('finish("exit 3")') as b:
        b.run(3, '--boots=1')
        assert b.boots('a') == [0]


def test_resume():
    with bench('finish()') as b:
        b.run(0, '--boots=1')
        one_line(b.run(1, '--boots=1'), 'a.json: exists already', '--resume')
        b.run(0, '--boots=1', '--resume')
        assert b.booted() == 'a'
        one_line(b.run(1, '--boots=2', '--resume', '--cpus=2'), "'virtual_cpus'")
        one_line(b.run(1, '--boots=2', '--resume', behind=('--copies=2',)), "'command'")
        guests.image(b.images['a'] + 'x')
        os.replace(b.images['a'] + 'x', b.images['a'])
        with open(b.images['a'], 'r+b') as f:
            f.write(b'another')
        one_line(b.run(1, '--boots=2', '--resume'), "'images'")
        b.run(0, '--boots=1', '--force')
        assert b.booted() == 'aa'
        lib.store(b.out, 'a.json', b'{ "schema":')
        one_line(b.run(1, '--boots=1', '--resume'), 'a.json', 'cut short')


def test_two_images():
    guest = 'finish(**({"sources": [{"name": "time", "used": True}]} if boot == 0 else {}))'
    with bench(guest) as b:
        b.images['a'] = f"{b.images['a']},{b.images['b']}"
        b.run(0, '--boots=1', '--sources=lock_stat,profile')
        assert b.booted() == 'ab'


def check_failure(guest, *parts, options=(), tail=None):
    with bench(guest) as b:
        done = b.run(1, '--boots=2', *options)
        one_line(done, 'a boot 0: ', *parts)
        assert b.booted() == 'a'
        assert tail is None or '    ' + tail + '\n' in done.stderr, done.stderr
        assert not os.listdir(b.out)


def test_silent_guest():
    check_failure(SILENT, 'CONFIG_SERIAL_8250_CONSOLE', options=FAST)
    check_failure('', 'CONFIG_SERIAL_8250_CONSOLE')


def test_guest_that_does_not_start_us():
    check_failure('say("Linux version 6\\n"); ' + SILENT, 'mmtape did not start', options=FAST,
                  tail='Linux version 6')


def test_guest_that_hangs():
    check_failure('say("one\\ntwo\\n"); frame("H", HELLO); ' + SILENT, 'no end after 1 s',
                  options=FAST, tail='two')


def test_guest_with_less():
    check_failure('frame("H", HELLO.replace("cpus=4", "cpus=1")); ' + SILENT, '1 of 4 CPUs')
    check_failure('frame("H", HELLO); ' + SILENT, '1 of 2 NUMA nodes',
                  options=('--numa=2', '--memory=256M'))


def test_command_that_fails():
    check_failure('frame("H", HELLO); frame("M", "mmtape: t: not a trace"); frame("E", "exit 1")',
                  't: not a trace')
    check_failure('say("Out of memory: Killed process 1\\n"); frame("H", HELLO); '
                  'frame("E", "signal 9")', 'killed by signal 9', '--memory')
    check_failure('frame("H", HELLO); frame("E", "error --swap: no zram")', '--swap: no zram')


def test_cut_and_garbled_results():
    cut = 'frame("H", HELLO); say("x"); frames.write(make_frame("R", json.dumps(result()))[:-9])'
    check_failure(cut, 'cut on the way')
    garbled = ('frame("H", HELLO); bad = bytearray(make_frame("R", json.dumps(result()))); '
               'bad[40] ^= 4; frames.write(bad); frame("E", "exit 0")')
    check_failure(garbled, 'garbled')


def test_results_that_are_none():
    for body in ('{}', '[', json.dumps({**guests.result(), 'version': 99})):
        guest = f'frame("H", HELLO); frame("R", {body!r}); frame("E", "exit 0")'
        with bench(guest) as b:
            one_line(b.run(1, '--boots=1'), 'a boot 0')
            assert not os.listdir(b.out)


def test_console_is_harmless():
    guest = 'say("\\x1b]0;title\\x07\\x00\\u202e\\n"); ' + SILENT
    with bench(guest) as b:
        done = b.run(1, '--boots=1', *FAST)
        assert '\x1b' not in done.stderr and '\x07' not in done.stderr
        assert '\u202e' not in done.stderr


def test_console_without_end():
    with bench('while True: say("x" * 5000)') as b:
        done = b.run(1, '--boots=1', *FAST)
        assert len(done.stderr) < 20000, len(done.stderr)


def test_qemu_that_fails():
    check_failure('print("qemu: no such CPU", file=sys.stderr); sys.exit(1)',
                  'QEMU: qemu: no such CPU')


def check_signal(number, status):
    """In its second boot the lab gets the signal: the first stays, QEMU goes."""
    guest = 'finish() if boot == 0 else (frame("H", HELLO), time.sleep(100))'
    with bench(guest) as b:
        lab = subprocess.Popen([lib.MMTAPE, *b.words('--boots=2')], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
        lib.wait_for('the second boot', lambda: b.booted() == 'aa' and lib.children(lab.pid))
        qemu = lib.children(lab.pid)
        lab.send_signal(number)
        text = lab.communicate(timeout=20)[1]
        assert lab.returncode == status, (lab.returncode, text)
        lib.wait_for('the end of QEMU', lambda: all(map(lib.is_gone, qemu)))
        assert b.boots('a') == [0] and os.listdir(b.out) == ['a.json']
        assert status < 0 or '--resume' in text


def test_signals():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        check_signal(number, 1)


def test_kill():
    check_signal(signal.SIGKILL, -signal.SIGKILL)


def test_bad_input():
    with bench('finish()') as b:
        one_line(lib.expect(2, 'lab', 'run', b.trace), 'no kernel')
        one_line(lib.expect(2, 'lab'), 'lab run')
        one_line(lib.expect(2, 'lab', 'walk'), "'walk'")
        one_line(lib.expect(2, 'lab', 'shell'), 'no kernel')
        two = [f'--kernel={name}={b.images[name]}' for name in 'ab']
        one_line(lib.expect(2, 'lab', 'shell', *two), 'one kernel')
        words = b.words()
        words[words.index('--qemu') + 1] = 'no-such-qemu'
        one_line(lib.expect(1, *words), 'no-such-qemu is not there', 'qemu-system-x86')
        one_line(b.run(1, '--memory=900T'), '--memory', 'available')
        one_line(b.run(1, f'--program={b.trace}'), '--program', 'not an ELF file')
        one_line(b.run(1, '--file=/nonexistent'), '/nonexistent')
        synthetic = Synthetic(arch='aarch64')
        synthetic.call('mmap', 0x7f0000000000, 0, 0x10000, 3, 0x22, -1, 0, task=ROOT)
        b.trace = synthetic.save(b.trace)
        one_line(b.run(1), 'recorded on aarch64')
        b.trace = b.images['a']
        one_line(b.run(1), 'not a trace')
        b.trace = os.path.join(b.folder, 'none')
        one_line(b.run(1), 'No such file')
        assert b.booted() == ''


def test_bad_images():
    with bench('finish()') as b:
        for data, part in ((b'', 'empty'), (b'\x7fELF' + bytes(99), 'vmlinux'),
                           (b'text', 'HdrS'), (lib.load(b.images['a'])[:0x210], 'HdrS')):
            b.images['a'] = lib.store(b.folder, 'bad', data)
            one_line(b.run(1), 'bad: cannot be booted', part)
        b.images['a'] = b.folder
        one_line(b.run(1), 'not a regular file')
        b.images['a'] = os.path.join(b.folder, 'none')
        one_line(b.run(1), 'none: cannot be booted')


def test_commands_for_guests():
    with bench('finish()') as b:
        words = [word for word in b.words() if word != b.trace]
        dynamic = lib.program('pagefault1')
        one_line(lib.expect(1, *words, '--', dynamic), 'link it with -static')
        script = lib.store(b.folder, 'script', b'#!/bin/sh\n')
        one_line(lib.expect(1, *words, '--', script), 'script')
        lib.expect(0, *words, '--boots=1', '--', lib.MMTAPE + '-static', '--version')
        assert b.boots('a') == [0]


lib.main(globals())
