# SPDX-License-Identifier: GPL-2.0-or-later
"""A second reader of the trace format, written from docs/format.md alone.

It keeps what each byte means, for the worked example there, and gives events back, to
compare with what mmtape reads. Needs zstd(1)."""
import shutil
import struct
import subprocess

import lib


def raw_stream(path):
    """The blocks of a trace, decompressed."""
    if not shutil.which('zstd'):
        raise lib.Skip('needs zstd(1)')
    return subprocess.run(['zstd', '-q', '-dc', path], stdout=subprocess.PIPE, check=True).stdout


class Cursor:
    """Takes fields and notes what they were."""

    def __init__(self, data):
        self.data, self.at, self.notes = data, 0, []

    def take(self, size, meaning):
        piece = self.data[self.at:self.at + size]
        assert len(piece) == size, f'{meaning}: the data ends'
        if size:
            self.notes.append((self.at, piece, meaning))
        self.at += size
        return piece

    def number(self, form, meaning):
        size = struct.calcsize(form)
        value = struct.unpack('<' + form, self.data[self.at:self.at + size])[0]
        self.take(size, f'{meaning} {value}' if value < 10000 else f'{meaning} {value:#x}')
        return value


def unzigzag(value):
    return value >> 1 ^ -(value & 1)


def planes(cursor, count, events, name):
    """Numbers whose bytes stand in `count` planes, lowest first."""
    values = [0] * events
    for plane in range(count):
        for i, byte in enumerate(cursor.take(events, f'{name}, byte {plane} of each event')):
            values[i] |= byte << 8 * plane
    return values


def varints(data):
    values, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            values.append(value)
            value = shift = 0
    assert shift == 0, 'a column ends within a number'
    return values


def argument_column(data):
    values, last = [], 0
    for value in varints(data):
        last = last + unzigzag(value) & (1 << 64) - 1
        values.append(last)
    return values


def pages(near, far, of_tasks):
    """Page numbers of faults, given the task of each."""
    recent, at, out = {}, 0, []
    for byte, task in zip(near, of_tasks):
        last, before = recent.get(task, (0, 0))
        if byte < 128:
            page = last + unzigzag(byte)
            recent[task] = (page, before)
        else:
            if byte < 248:
                page = before + unzigzag(byte - 128)
            else:
                size = byte - 247
                page = last + unzigzag(int.from_bytes(far[at:at + size], 'little'))
                at += size
            recent[task] = (page, last)
        out.append(page)
    assert at == len(far)
    return out


def pairs(c, count):
    for _ in range(count):
        key_len, value_len = c.number('H', 'key length'), c.number('H', 'value length')
        c.take(key_len, 'key')
        c.take(value_len, 'value')


def block_head(c):
    c.number('H', 'version')
    c.number('H', 'zero')
    pairs(c, c.number('I', 'pairs'))


def block_tail(c):
    for form, meaning in zip('IIQQQ', ('status', 'flags', 'time', 'events', 'lost')):
        c.number(form, meaning)


def block_evts(c):
    """Events of one block as (time, cpu, task, kind, flags, arguments)."""
    cpu, count, _, first, last = (c.number(form, meaning) for form, meaning in zip(
        'IIQQQ', ('cpu', 'events', 'index', 'first time', 'last time')))
    shift, time_planes, task_planes, shape_count = (c.number('B', meaning) for meaning in (
        'page shift', 'time planes', 'task planes', 'shapes'))
    task_count, near_len, far_len = (c.number('I', m) for m in ('tasks', 'near', 'far'))
    shapes = [tuple(c.number(form, f'shape {i}: {meaning}') for form, meaning in zip(
        'HBBI', ('kind', 'args', 'flags', 'code'))) for i in range(shape_count)]
    ids = [c.number('I', f'task {i}:') for i in range(task_count)]
    lengths = [[c.number('I', f'length of shape {i}, argument {a}:') for a in range(shape[1])]
               for i, shape in enumerate(shapes)]
    of_shape = c.take(count, 'shape of each event')
    of_task = planes(c, task_planes, count, 'task')
    deltas = planes(c, time_planes, count, 'time since the event before')
    near, far = c.take(near_len, 'near'), c.take(far_len, 'far')
    columns = [[iter(argument_column(c.take(size, f'shape {i}, argument {a}')))
                for a, size in enumerate(sizes)] for i, sizes in enumerate(lengths)]
    faults = [i for i in range(count) if shapes[of_shape[i]][0] in (1, 2)]
    addresses = iter(pages(near, far, [of_task[i] for i in faults]))
    events, time = [], first
    for i in range(count):
        kind, _, flags, code = shapes[of_shape[i]]
        time += deltas[i]
        args = ([next(addresses) << shift, code] if kind in (1, 2) else
                [next(column) for column in columns[of_shape[i]]])
        events.append((time, cpu, ids[of_task[i]], kind, flags, args))
    assert time == last
    return events


BLOCKS = {b'HEAD': block_head, b'TAIL': block_tail}


def read(data):
    """Notes (offset, bytes, meaning) of all bytes, and all events in time order."""
    c, events = Cursor(data), []
    while c.at < len(data):
        assert c.take(4, 'magic') == b'MMTB'
        kind = c.take(4, 'type')
        for form, meaning in (('H', 'flags'), ('H', 'zero')):
            c.number(form, meaning)
        end = c.number('I', 'length')
        c.number('I', 'zero')
        c.number('Q', 'sequence')
        end += c.at
        if kind == b'EVTS':
            events += block_evts(c)
        elif kind in BLOCKS:
            BLOCKS[kind](c)
        else:
            c.take(end - c.at, 'payload')
        assert c.at == end, f'{kind}: not all of the payload was read'
    events.sort(key=lambda e: e[:2])
    return c.notes, events


def example_lines(data):
    """Lines of the worked example: offset, bytes, meaning."""
    lines = []
    for offset, piece, meaning in read(data)[0]:
        if meaning in ('magic', 'type', 'key', 'value'):
            meaning += ' ' + piece.decode()
        for i in range(0, len(piece), 12):
            row = piece[i:i + 12].hex(' ')
            lines.append(f'{offset + i:04x}  {row:<36} {meaning if not i else ""}'.rstrip())
    return lines
