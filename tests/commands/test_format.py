# SPDX-License-Identifier: GPL-2.0-or-later
"""The trace file to the byte: a second reader agrees, goldens stay readable, the document is true.

Goldens are in tests/golden/trace. Version 1 must stay readable for good: v1.mmt.zst is never made
again. After a wanted change of output, or of the example, run this file with
MMTAPE_REGENERATE=1 and look at the difference."""
import json
import os
import re
import shutil
import subprocess
import tempfile

import lib
import trace_format

FOLDER = os.path.join(lib.ROOT, 'tests', 'golden', 'trace')
V1 = os.path.join(FOLDER, 'v1.mmt.zst')
EXAMPLE = os.path.join(FOLDER, 'example.mmt.zst')
DOCUMENT = os.path.join(lib.ROOT, 'docs', 'format.md')
TOOLS = os.path.join(os.path.dirname(lib.PROGRAMS), 'tools')
REGENERATE = os.environ.get('MMTAPE_REGENERATE')


def golden(name, got):
    path = os.path.join(FOLDER, name)
    if REGENERATE:
        with open(path, 'w', encoding='utf-8') as f:
            f.write(got)
    with open(path, encoding='utf-8') as f:
        assert f.read() == got, f'{path} differs from:\n{got}'


def document_block(title, lines):
    """The code block behind a line of the document must be these lines."""
    with open(DOCUMENT, encoding='utf-8') as f:
        text = f.read()
    found = re.search(re.escape(title) + r'\n\n```\n(.*?)```\n', text, re.DOTALL)
    assert found, f'{DOCUMENT} has no block behind "{title}"'
    want = '\n'.join(lines) + '\n'
    if REGENERATE:
        with open(DOCUMENT, 'w', encoding='utf-8') as f:
            f.write(text[:found.start(1)] + want + text[found.end(1):])
    else:
        assert found.group(1) == want, f'{DOCUMENT}: "{title}" is not:\n{want}'


def seeds(folder):
    subprocess.run([os.path.join(TOOLS, 'mkseeds'), folder], check=True)


def test_version_1_reads_as_ever():
    for form, ending in (('text', 'txt'), ('jsonl', 'jsonl'), ('csv', 'csv')):
        golden('v1.' + ending, lib.expect(3, 'dump', '--quiet', '--format', form, V1).stdout)
    lib.expect(0, 'check', EXAMPLE)
    lib.expect(3, 'check', V1)


def test_writer_makes_the_example():
    with tempfile.TemporaryDirectory() as folder:
        seeds(folder)
        made = os.path.join(folder, 'events.mmt.zst')
        if REGENERATE:
            shutil.copyfile(made, EXAMPLE)
        assert trace_format.raw_stream(made) == trace_format.raw_stream(EXAMPLE)


def test_document_shows_the_example():
    document_block('Its blocks, decompressed:',
                   trace_format.example_lines(trace_format.raw_stream(EXAMPLE)))
    with open(EXAMPLE, 'rb') as f:
        data = f.read()
    document_block('The file itself:', [f'{at:04x}  {data[at:at + 16].hex(" ")}'
                                        for at in range(0, len(data), 16)])
    document_block('What `mmtape dump` makes of it:',
                   lib.expect(0, 'dump', EXAMPLE).stdout.splitlines())


def number_of(text):
    return int(text, 16) if isinstance(text, str) and text.startswith('0x') else text


def test_second_reader_agrees():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 't.mmt.zst')
        subprocess.run([os.path.join(TOOLS, 'mktrace'), '-o', path, '-n', '20000', '-c', '5',
                        '-t', '300', '--flush', '3000'], check=True, stdout=subprocess.DEVNULL)
        _, events = trace_format.read(trace_format.raw_stream(path))
        lines = [json.loads(line) for line in
                 lib.expect(0, 'dump', '--format', 'jsonl', path).stdout.splitlines()]
    base = 1000000000000
    shown = [line for line in lines if line['type'] in ('event', 'enter', 'leave')]
    assert len(shown) == len(events) and len(events) > 19000
    compared = 0
    for line, (time, cpu, task, kind, _, args) in zip(shown, events):
        assert (line['time'] + base, line['cpu'], line['task']) == (time, cpu, task), line
        assert (line['type'] == 'leave') == (kind >= 16 and kind % 2 == 1), line
        for name, index in (('address', 0), ('addr', 0), ('start', 0), ('len', 1), ('len_in', 1)):
            if name in line:
                assert number_of(line[name]) == args[index], line
                compared += 1
    assert compared > 18000


def test_zstd_accepts_it():
    if not shutil.which('zstd'):
        raise lib.Skip('needs zstd(1)')
    for path in (V1, EXAMPLE):
        subprocess.run(['zstd', '-q', '-t', path], check=True)


lib.main(globals())
