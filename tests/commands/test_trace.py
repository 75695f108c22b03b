# SPDX-License-Identifier: GPL-2.0-or-later
"""dump, check and salvage from outside: exit statuses, one-line errors, cut and damaged files."""
import csv
import io
import json
import os
import subprocess
import tempfile

import lib

TOOLS = os.path.join(os.path.dirname(lib.PROGRAMS), 'tools')
V1 = os.path.join(lib.ROOT, 'tests', 'golden', 'trace', 'v1.mmt.zst')
EXAMPLE = os.path.join(lib.ROOT, 'tests', 'golden', 'trace', 'example.mmt.zst')
MAGIC = b'\x28\xb5\x2f\xfd'


def make(folder, *args):
    path = os.path.join(folder, 'made.mmt.zst')
    subprocess.run([os.path.join(TOOLS, 'mktrace'), '-o', path, '--force', *map(str, args)],
                   check=True, stdout=subprocess.DEVNULL)
    return path


def check(path, status):
    return json.loads(lib.expect(status, 'check', '--format', 'json', path).stdout)


def one_line_error(*args, words=()):
    done = lib.expect(1, *args)
    assert not done.stdout, done.stdout
    assert done.stderr.count('\n') == 1, f'not one line: {done.stderr!r}'
    for word in words:
        assert word in done.stderr, f'{word!r} is not in {done.stderr!r}'


def test_check_of_a_whole_trace():
    found = check(EXAMPLE, 0)
    assert found['verdict'] == 'whole' and found['complete'] and found['has_tail']
    assert (found['events'], found['lost'], found['damage']) == (6, 0, [])
    assert found['bytes'] == os.path.getsize(EXAMPLE)
    assert ': whole\n' in lib.expect(0, 'check', EXAMPLE).stdout


def test_check_of_a_lossy_trace():
    found = check(V1, 3)
    assert found['verdict'] == 'incomplete' and not found['complete']
    assert found['lost'] == 13 and found['damage_count'] == 0


def test_cut_traces_are_salvaged():
    with tempfile.TemporaryDirectory() as folder:
        data = lib.load(make(folder, '-n', 8000, '--flush', 700))
        output = os.path.join(folder, 'saved.mmt.zst')
        before = -1
        for length in range(len(data) // 20, len(data), len(data) // 20):
            cut = lib.store(folder, 'cut.mmt.zst', data[:length])
            damaged = json.loads(lib.mmtape('check', '--format', 'json', cut).stdout)
            if damaged['damage_count']:  # else the cut fell between two blocks
                one_line_error('dump', cut, words=[cut, 'offset', 'mmtape salvage'])
            done = lib.expect(3, 'salvage', cut, '-o', output, '-f')
            assert output in done.stderr and 'saved' in done.stderr, done.stderr
            # Where only the seek table was cut nothing is missing.
            saved = check(output, 3 if damaged['lost'] else 0)
            assert saved['events'] == damaged['events'] >= before
            assert saved['has_tail'] and saved['damage_count'] == 0
            assert saved['lost'] == damaged['lost']
            before = saved['events']
        assert before > 7000


def test_damage_in_the_middle_costs_its_block_only():
    with tempfile.TemporaryDirectory() as folder:
        data = bytearray(lib.load(make(folder, '-n', 8000, '--flush', 700)))
        data[len(data) // 2] ^= 0x55
        bad = lib.store(folder, 'bad.mmt.zst', data)
        found = check(bad, 1)
        assert found['damage_count'] == 1 and found['has_tail']
        assert found['events'] + found['lost'] > 7900, found
        assert 0 < found['lost'] < 1000, found
        saved = os.path.join(folder, 'saved.mmt.zst')
        lib.expect(3, 'salvage', bad, '-o', saved)
        lines = [json.loads(line) for line in
                 lib.expect(3, 'dump', '--format', 'jsonl', saved).stdout.splitlines()]
        losses = [line for line in lines if line['type'] == 'loss']
        assert sum(loss['events'] for loss in losses) == found['lost']
        assert all(loss['reason'] == 'damage' for loss in losses)


def test_salvage_of_a_whole_trace_loses_nothing():
    with tempfile.TemporaryDirectory() as folder:
        saved = os.path.join(folder, 'saved.mmt.zst')
        for trace, status in ((EXAMPLE, 0), (V1, 3)):
            lib.expect(status, 'salvage', '-f', trace, '-o', saved)
            for form in ('text', 'jsonl'):
                assert (lib.expect(status, 'dump', '--format', form, '--quiet', trace).stdout ==
                        lib.expect(status, 'dump', '--format', form, '--quiet', saved).stdout)


def test_salvage_never_harms_its_input():
    with tempfile.TemporaryDirectory() as folder:
        path = lib.store(folder, 't.mmt.zst', lib.load(EXAMPLE))
        link = os.path.join(folder, 'link')
        os.symlink(path, link)
        one_line_error('salvage', path, '-o', path, '-f', words=['overwrite'])
        one_line_error('salvage', path, '-o', link, '-f', words=['overwrite'])
        other = lib.store(folder, 'other', b'kept')
        one_line_error('salvage', path, '-o', other, words=['exists', '--force'])
        assert lib.load(other) == b'kept' and lib.load(path) == lib.load(EXAMPLE)


def test_what_is_no_trace():
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            (lib.store(folder, 'empty', b''), 'empty'),
            (lib.store(folder, 'text', b'hello\n' * 100), 'not a trace'),
            (lib.store(folder, 'zeros', bytes(5000)), 'not a trace'),
            (lib.store(folder, 'begun', lib.load(EXAMPLE)[:40]), 'cut short'),
            (lib.store(folder, 'bomb', MAGIC + bytes.fromhex('a40000000040') + bytes(100)), 'not a trace'),
            (folder, 'directory'),
            (os.path.join(folder, 'missing'), 'No such file'),
        ]
        for path, why in rows:
            for command in ('dump', 'check'):
                one_line_error(command, path, words=[path, why])
            one_line_error('salvage', path, '-o', os.path.join(folder, 'out'), words=[path, why])
            assert not os.path.exists(os.path.join(folder, 'out'))


def test_dump_formats_agree():
    text = lib.expect(0, 'dump', EXAMPLE).stdout.splitlines()
    lines = [json.loads(line) for line in
             lib.expect(0, 'dump', '--format', 'jsonl', EXAMPLE).stdout.splitlines()]
    rows = list(csv.DictReader(io.StringIO(
        lib.expect(0, 'dump', '--format', 'csv', EXAMPLE).stdout)))
    assert len(text) == len(lines) == len(rows) == 6
    for line, row, shown in zip(lines, rows, text):
        assert line['time'] == int(row['time_ns'])
        assert shown.startswith(f"0.{line['time']:09}")
        assert line['name'] == row['name'] and line['name'] in shown


def test_nothing_of_a_file_reaches_the_terminal():
    for form in ('text', 'jsonl', 'csv'):
        shown = lib.expect(3, 'dump', '--format', form, V1).stdout
        assert '\x1b' not in shown and '\\x1b[2J' in shown or form == 'jsonl'
        assert not any(c < ' ' and c not in '\n\t' for c in shown)


def test_broken_pipe_is_quiet():
    with tempfile.TemporaryDirectory() as folder:
        path = make(folder, '-n', 100000)
        with lib.Running([lib.MMTAPE, 'dump', path], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE) as process:
            process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == b''
            process.wait(timeout=60)


def test_full_output_is_said():
    if not os.path.exists('/dev/full'):
        raise lib.Skip('needs /dev/full')
    with open('/dev/full', 'wb') as full:
        done = subprocess.run([lib.MMTAPE, 'dump', EXAMPLE], stdout=full, stderr=subprocess.PIPE,
                              check=False)
    assert done.returncode == 1 and b'No space left' in done.stderr, done


lib.main(globals())
