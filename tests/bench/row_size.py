# SPDX-License-Identifier: GPL-2.0-or-later
"""Bytes per event of a recorded link, beside perf's for the same tracepoints."""
import os
import re
import shutil

from harness import Failed, Line, need_capture

ASKED = 3.5
LIST_EVENTS = 'cat /sys/kernel/tracing/instances/*/set_event'


def recorded_events(bench):
    """The tracepoints that capture switches on, as perf names them."""
    listing = bench.path('events')
    bench.capture(bench.path('events.mmt.zst'), 'sh', '-c', f'{LIST_EVENTS} >{listing}')
    with open(listing, encoding='utf-8') as f:
        return sorted({line.split()[0] for line in f if re.match(r'\w+:\w+', line)})


def perf_bytes_per_event(bench, command):
    """(bytes per event, events) of perf record -z3, or the reason for none."""
    if not shutil.which('perf'):
        return 'perf is missing (Debian: linux-perf)'
    data = bench.path('perf.data')
    try:
        bench.run('perf', 'record', '-z3', '-m', '8M', '-o', data, '-e',
                  ','.join(recorded_events(bench)), '--', *command)
        stats = bench.run('perf', 'report', '--stats', '-i', data).decode()
    except Failed as why:
        return str(why)
    total = re.search(r'SAMPLE events:\s+(\d+)', stats)
    if not total:
        return 'perf report --stats shows no samples'
    return os.path.getsize(data) / int(total[1]), int(total[1])


def measure(bench):
    need_capture()
    command = bench.link_command()
    info = bench.capture(bench.path('link.mmt.zst'), *command)
    ours = info['bytes'] / info['events']
    notes = [f"{info['events']} events, {info['bytes']} bytes, {info['faults']} faults, none lost"]
    perf = perf_bytes_per_event(bench, command)
    if isinstance(perf, str):
        notes.append(f'no figure of perf record -z3: {perf}')
    else:
        notes.append(f'perf record -z3: {perf[0]:.2f} bytes per event ({perf[1]} events), '
                     f'{perf[0] / ours:.1f} times as many')
    return [Line('bytes per event, ld.lld link', f'<= {ASKED}', f'{ours:.2f}', ours <= ASKED, notes)]
