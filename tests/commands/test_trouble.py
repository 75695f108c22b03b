# SPDX-License-Identifier: GPL-2.0-or-later
"""Bad input to every command: its own one line, the right status, nothing left behind."""
import os
import resource
import struct
import subprocess
import sys
import tempfile

import lib
import synthetic
from synthetic import FORK, ROOT, Synthetic

EXAMPLE = os.path.join(lib.ROOT, 'tests', 'golden', 'trace', 'example.mmt.zst')
ONCE = ('--repeat=1', '--warmup=0', '--no-latency', '--quiet')
READERS = (('check',), ('info',), ('dump',), ('replay', *ONCE), ('verify',))
ESC = '\x1b[31m'
WILD = f'{ESC}\x07\u202e=1|<b>`x`'
MIB = 1 << 20


def one_line(status, *args, words=(), **more):
    done = lib.expect(status, *args, **more)
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith('mmtape: '), (args, done.stderr)
    for word in words:
        assert str(word) in lines[0], (args, word, lines[0])
    return done


def refused_by_all(path, *words):
    """No command reads it; salvage leaves nothing behind."""
    for command in READERS:
        one_line(1, *command, path, words=[path, *words])
    with tempfile.TemporaryDirectory() as folder:
        one_line(1, 'salvage', path, '-o', os.path.join(folder, 'out'), words=[path, *words])
        assert not os.listdir(folder)


def peak_of(*args, status):
    """Peak memory of one run in bytes, its children's apart."""
    script = ('import resource, subprocess, sys\n'
              'done = subprocess.run(sys.argv[1:], stdout=-3, stderr=-3)\n'
              'print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)')
    done = subprocess.run([sys.executable, '-c', script, lib.MMTAPE, *map(str, args)],
                          stdout=subprocess.PIPE, text=True, check=True, timeout=100)
    code, peak = map(int, done.stdout.split())
    assert code == status, (args, code)
    return peak * 1024


def test_commands_and_options_that_do_not_exist():
    one_line(2, words=['--help'])
    one_line(2, 'nosuch', words=['nosuch', 'mmtape --help'])
    for command in ('capture', 'info', 'dump', 'check', 'salvage', 'replay', 'verify', 'diff'):
        one_line(2, command, words=[command])
        one_line(2, command, '--no-such-option', words=['--no-such-option',
                                                        f'mmtape {command} --help'])
    one_line(2, 'replay', '-fo', 'x', EXAMPLE, words=['-fo', 'apart'])


def test_what_is_no_trace():
    with tempfile.TemporaryDirectory() as folder:
        fifo = os.path.join(folder, 'fifo')
        os.mkfifo(fifo)
        for path, why in ((lib.store(folder, 'empty', b''), 'empty'),
                          (lib.store(folder, 'text', b'hello\n' * 100), 'not a trace'),
                          (lib.store(folder, 'zstd', synthetic.frame(b'hello')), 'not a trace'),
                          (folder, 'directory'), (fifo, 'pipe'), ('/dev/zero', 'device'),
                          (os.path.join(folder, 'none'), 'No such file')):
            refused_by_all(path, why)
        with open(EXAMPLE, 'rb') as f:
            one_line(1, 'info', '/dev/stdin', words=['regular file'],
                     stdin=subprocess.Popen(['cat'], stdin=f, stdout=subprocess.PIPE).stdout)


def test_newer_versions_and_blocks():
    head = bytearray(synthetic.first_block(EXAMPLE))
    with tempfile.TemporaryDirectory() as folder:
        required = synthetic.frame(bytes(head)) + \
            synthetic.frame(synthetic.block(b'NEWR', b'new', 1, flags=1))
        path = lib.store(folder, 'required', required)
        refused_by_all(path, "'NEWR'", 'offset', 'newer mmtape')
        struct.pack_into('<H', head, 28, 2)
        path = lib.store(folder, 'version', synthetic.frame(bytes(head)))
        refused_by_all(path, 'version 2', 'newer mmtape')


def test_bombs():
    head = synthetic.frame(synthetic.first_block(EXAMPLE))
    with tempfile.TemporaryDirectory() as folder:
        bomb = synthetic.frame(bytes(256 * MIB))
        refused_by_all(lib.store(folder, 'alone', bomb), '1 MiB')
        path = lib.store(folder, 'behind', head + bomb)
        many = lib.store(folder, 'many', head + synthetic.frame(bytes(MIB)) * 1000)
        for command in READERS[2:]:
            one_line(1, *command, path, words=[path, 'offset', '1 MiB', 'salvage'])
        for command, status in ((['check'], 1), (['info'], 3), (['dump'], 1),
                                (['salvage', '-f', '-o', os.path.join(folder, 'out')], 3)):
            for trace in path, many:
                assert peak_of(*command, trace, status=status) < 64 * MIB, (command, trace)


def no_event_is_made_up(path, whole):
    """Status of all commands on a damaged copy; info's count is never above the whole's."""
    for command in READERS[:3]:
        done = lib.mmtape(*command, path)
        assert done.returncode in (1, 3), (command, done)
        assert len(done.stderr.splitlines()) <= 1, done.stderr
    checked = lib.mmtape('check', '--format', 'json', path)
    out = os.path.join(os.path.dirname(path), 'out')
    saved = lib.mmtape('salvage', '-f', '-o', out, path)
    assert saved.returncode in (1, 3), saved
    if saved.returncode == 1:  # nothing of it is whole
        assert not os.path.exists(out) and len(saved.stderr.splitlines()) == 1, saved.stderr
        return 0
    counted = int(checked.stdout.split('"events":')[1].split(',')[0])
    assert counted <= whole
    assert lib.mmtape('check', out).returncode in (0, 3), path
    os.unlink(out)
    return counted


def some_trace(folder, count=3000):
    made = Synthetic()
    for page in range(count):
        made.point('fault_user', 0x7f0000000000 + page * 4096 * 7, 6)
    made.point('exit', 1)
    return lib.load(made.save(os.path.join(folder, 'whole')))


def test_cut_at_hundreds_of_offsets():
    with tempfile.TemporaryDirectory() as folder:
        data = some_trace(folder)
        counts = [no_event_is_made_up(lib.store(folder, 'cut', data[:len(data) * i // 100]), 3001)
                  for i in range(100)]
        assert counts == sorted(counts) and counts[-1] == 3001, counts
        # The start of a file is where readers learn what it is: every byte of it.
        for length in range(100):
            no_event_is_made_up(lib.store(folder, 'cut', data[:length]), 3001)
        for i in range(0, 100, 9):
            path = lib.store(folder, 'cut', data[:len(data) * i // 100])
            one_line(1, 'replay', *ONCE, path, words=[path])


def test_flipped_bits():
    with tempfile.TemporaryDirectory() as folder:
        data = some_trace(folder)
        table = data.rindex(b'\x5e\x2a\x4d\x18')  # is a convenience: nothing is lost with it
        for i in range(100):
            bad = bytearray(data)
            bad[table * i // 100] ^= 1 << i % 8
            no_event_is_made_up(lib.store(folder, 'bad', bytes(bad)), 3001)


def test_no_events():
    with tempfile.TemporaryDirectory() as folder:
        path = Synthetic().save(os.path.join(folder, 'zero'))
        for command in READERS[:3]:
            lib.expect(0, *command, path)
        for command in READERS[3:]:
            one_line(1, *command, path, words=[path, 'nothing to replay'])


def test_outputs_that_cannot_be_made():
    """Refused at once, with --force too, and what is there stays."""
    with tempfile.TemporaryDirectory() as folder:
        kept, target = lib.store(folder, 'kept', b'mine'), os.path.join(folder, 'target')
        link, fifo = os.path.join(folder, 'link'), os.path.join(folder, 'fifo')
        os.symlink(target, link)
        os.mkfifo(fifo)
        for command in (['salvage'], ['replay', *ONCE]):
            one_line(1, *command, EXAMPLE, '-o', kept, words=[kept, '--force'])
            for path in (link, fifo, folder, '/dev/zero', '/dev/full'):
                for force in ([], ['--force']):
                    one_line(1, *command, EXAMPLE, '-o', path, *force,
                             words=[path, 'not a regular file'])
            missing = os.path.join(folder, 'none', 'x')
            one_line(1, *command, EXAMPLE, '-o', missing, words=[missing, 'no such directory'])
            one_line(1, *command, EXAMPLE, '-o', '', words=['name of a file'])
        # Before any work: even the trace has not been looked at.
        one_line(1, 'replay', 'none.mmt.zst', '-o', kept, words=[kept])
        one_line(1, 'salvage', EXAMPLE, '-o', '-', words=['name of a file'])
        assert lib.load(kept) == b'mine' and not os.path.exists(target)
        lib.expect(0, 'salvage', EXAMPLE, '-o', kept, '--force')
        assert lib.load(kept) != b'mine' and os.stat(kept).st_mode & 0o777 == 0o600


def test_outputs_belong_to_who_called_sudo():
    lib.need_root()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'out')
        environment = {**os.environ, 'SUDO_UID': '12345', 'SUDO_GID': '23456'}
        for command in (['salvage'], ['replay', *ONCE]):
            status = lib.mmtape(*command, EXAMPLE, '-f', '-o', path, env=environment).returncode
            assert status in (0, 3), command
            found = os.stat(path)
            assert (found.st_uid, found.st_gid) == (12345, 23456), command
            assert found.st_mode & 0o7777 == 0o600, command


def test_full_disk():
    """A limit on the size of files stands for it: no part of a file stays."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, 'out')
        one_line(1, 'salvage', EXAMPLE, '-o', out, words=[out, 'no room left'],
                 preexec_fn=limit)
        assert not os.path.exists(out)


def test_wrong_values_are_usage():
    for option in ('--thp=fast', '--mthp=64k', '--mthp=64k=fast', '--mthp=k=always', '--pin=x',
                   '--pin=1023', '--copies=0', '--repeat=0', '--pace=fast', '--stuck-after=x'):
        one_line(2, 'replay', option, EXAMPLE, words=[option.split('=')[0]])
    one_line(2, 'capture', '--max-duration=x', '--', 'true', words=['--max-duration'])
    one_line(2, 'dump', '--format=x', EXAMPLE, words=['--format'])


def test_results_that_are_none():
    with tempfile.TemporaryDirectory() as folder:
        for name, data, why in (('text', b'hello', 'not a result'), ('empty', b'', 'byte 0'),
                                ('cut', b'{"schema": "mmtape-res', 'cut short'),
                                ('other', b'{"a": 1}', 'not a result'),
                                ('deep', b'[' * 100000, 'not a result'),
                                ('trace', lib.load(EXAMPLE), 'not a result')):
            path = lib.store(folder, name, data)
            one_line(1, 'diff', path, path, words=[path, why])
        one_line(1, 'diff', folder, folder, words=[folder])
        one_line(1, 'diff', '/dev/zero', '/dev/zero', words=['/dev/zero', '32 MiB'])


def forks(count, deep):
    made = Synthetic()
    for i in range(count):
        made.point('newtask', ROOT + 1 + i, FORK, task=ROOT + i if deep else ROOT)
    return made


def test_fork_bomb_is_refused():
    with tempfile.TemporaryDirectory() as folder:
        for deep in False, True:
            path = forks(120000, deep).save(os.path.join(folder, 'bomb'))
            lib.expect(0, 'info', path)
            one_line(1, 'replay', *ONCE, path, words=[path, '120001 tasks', 'allowed'])


def test_a_chain_of_forks_costs_no_more_than_its_length():
    with tempfile.TemporaryDirectory() as folder:
        path = forks(10000, True).save(os.path.join(folder, 'chain'))
        # Refused after it was compiled.
        assert peak_of('replay', '--copies=1024', path, status=1) < 400 * MIB


def harmless(text, where):
    bad = [c for c in text if (c < ' ' and c not in '\n\t') or '\x7f' <= c < '\xa0' or
           c in '\u202e\udc9b']
    assert not bad, (where, bad)


def test_names_do_no_harm():
    with tempfile.TemporaryDirectory() as folder:
        made = Synthetic(kernel=WILD, tool=WILD, thp=WILD, trace_id=WILD, **{f'thp_{ESC}': WILD})
        made.lines.append(f'name {ROOT} {ESC}=x')
        made.call('mmap', 0x7f0000000000, 0, 0x4000, 3, 0x22, -1, 0)
        made.point('exit', 1)
        trace = made.save(os.path.join(folder, f'{ESC}t'))
        result = os.path.join(folder, f'{ESC}r')
        for command in (['info'], ['check'], ['dump'], ['dump', '--format=csv'],
                        ['replay', '--repeat=1', '--warmup=0', '-o', result]):
            done = lib.expect(0, *command, trace)
            harmless(done.stdout + done.stderr, command)
        for form in 'block', 'records', 'csv', 'markdown':
            done = lib.mmtape('diff', '--format', form, result, result)
            harmless(done.stdout + done.stderr, form)
        for args in ([f'no{ESC}'], ['info', f'no\n{ESC}'], ['info', f'--no{ESC}']):
            done = lib.mmtape(*args)
            harmless(done.stderr, args)
            assert len(done.stderr.splitlines()) == 1, args


lib.main(globals())
