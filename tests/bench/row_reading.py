# SPDX-License-Identifier: GPL-2.0-or-later
"""Reading and merging a large trace, against only decompressing it, on one CPU."""
import json
import os
import shutil
import time

from harness import Line, Skip, interleave, last_cpu, median, spread

ASKED = 5.0
ASKED_RATE = 20e6
EVENTS = 20_500_000


def measure(bench):
    if not shutil.which('zstd'):
        raise Skip('no zstd here')
    events = bench.pick(EVENTS, EVENTS // 5, EVENTS // 200)
    trace = bench.path('large.mmt.zst')
    bench.run(bench.tool('tools/mktrace'), '--events', events, '--cpus', 16, '-o', trace)
    cpu = last_cpu()

    def read():
        start = time.monotonic()
        found = json.loads(bench.run(bench.tool('bench/readall'), trace, cpus=cpu))
        return time.monotonic() - start, found['events']

    def decompress():
        return bench.timed('zstd', '-qdc', trace, cpus=cpu)

    pairs = interleave(read, decompress, bench.pick(9, 5, 1))
    seen = pairs[0][0][1]
    ratios = [ours / zstd for (ours, _), zstd in pairs]
    rate = seen / median([ours for (ours, _), _ in pairs])
    notes = [f'{seen} events on 16 CPUs in {os.path.getsize(trace)} bytes; zstd -dc alone: '
             f'{median([zstd for _, zstd in pairs]):.3f} s; ratios {spread(ratios)}']
    os.unlink(trace)
    return [
        Line('reading, times zstd -dc', f'<= {ASKED:g}', f'{median(ratios):.2f}',
             median(ratios) <= ASKED, notes),
        Line('reading, events/s', f'around {ASKED_RATE / 1e6:g} M', f'{rate / 1e6:.1f} M', None),
    ]
