# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces that no kernel would give, made of lines with tests/tools/writetrace."""
import os
import struct
import subprocess

import lib
import trace_format

WRITETRACE = os.path.join(os.path.dirname(lib.PROGRAMS), 'tools', 'writetrace')
META = {'clock': 'mono', 'kernel': '0.0-synthetic', 'arch': 'x86_64', 'page_size': '4096',
        'address_bits': '47', 'zero_page': '1', 'cpus': '1', 'time_base': '1000',
        'root_task': '100', 'tool': 'writetrace', 'trace_id': '0' * 32}
FORK, THREAD = 0x1200011, 0x3d0f00  # flags of clone
ROOT = 100


class Synthetic:
    """Events one after the other, a microsecond apart, all on CPU 0."""

    def __init__(self, **meta):
        self.lines = [f'meta {key} {value}' for key, value in {**META, **meta}.items()]
        self.time = 1000

    def event(self, side, name, *args, task=ROOT):
        self.time += 1000
        self.lines.append(f'event {self.time} 0 {task} {side} {name} 0 ' +
                          ' '.join(f'{arg & (1 << 64) - 1:x}' for arg in args))

    def point(self, name, *args, task=ROOT):
        self.event('point', name, *args, task=task)

    def call(self, name, result, *args, task=ROOT):
        self.event('enter', name, *args, task=task)
        self.event('leave', name, result, task=task)

    def save(self, path):
        subprocess.run([WRITETRACE, path], input='\n'.join(self.lines) + '\n', text=True,
                       check=True)
        return path


def frame(data):
    """A zstd frame as a trace has them."""
    return subprocess.run(['zstd', '-q', '-c', '--check', f'--stream-size={len(data)}'],
                          input=data, stdout=subprocess.PIPE, check=True).stdout


def block(kind, payload, sequence, flags=0):
    return b'MMTB' + kind + struct.pack('<HHIIQ', flags, 0, len(payload), 0, sequence) + payload


def first_block(trace):
    """HEAD of a trace, decompressed."""
    raw = trace_format.raw_stream(trace)
    return raw[:28 + struct.unpack_from('<I', raw, 12)[0]]
