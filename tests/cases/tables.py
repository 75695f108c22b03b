# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of the page beyond asked against measured. Each takes the data and gives lines of Markdown."""
import os
import re
import statistics
import tempfile

import figures
from cases import ALL_612, TIMES
from loads import LOADS

ROLES = ('lru', 'deferred-split', 'zone-alloc', 'zone-free')
PARTS = re.compile(rf"lock\.({'|'.join(ROLES)})(\.\w+)*\.acquisitions")
LEAST_SHARE = 0.001 # of CPU time
NOT_RUN = ['Not run.']
# What S5 is about: times, and the counters of reclaim, of the machine and of its memory cgroup.
TIMES_OF_RUN = ('elapsed', 'system', 'user')
RECLAIM = re.compile(r'(vmstat|memcg)\.(allocstall|pgrotated|pgscan|pgsteal|pswp|pgmajfault|'
                     r'workingset_refault|events\.max|events\.oom)')


def table(head, rows):
    return ['| ' + ' | '.join(head) + ' |', '|' + '---|' * len(head),
            *('| ' + ' | '.join(row) + ' |' for row in rows)]


def with_spread(values, scale=1):
    if not values:
        return '-'
    shown = figures.text(statistics.mean(values) * scale)
    spread = figures.spread(values)
    return shown if spread is None else f'{shown} ± {spread:.0%}'


def orders(data):
    """Acquisitions per folio, contentions in brackets."""
    load = 'pagefault1-orders'
    found = figures.orders(data.rows(load, ALL_612[0]))
    if not found:
        return NOT_RUN
    columns = [(role, kernel) for role in ('lru', 'zone', 'deferred-split') for kernel in ALL_612]
    rows = []
    for order in found:
        row = [str(order)]
        for role, kernel in columns:
            per_folio, contentions = (
                data.mean(load, kernel, 'lock_stat', f'lock.{role}.{measure}', order)
                for measure in ('acquisitions_per_folio', 'contentions'))
            row.append('-' if per_folio is None
                       else f'{figures.text(per_folio)} ({figures.text(contentions)})')
        rows.append(row)
    return ['Acquisitions per folio by lock_stat, contentions in brackets:', '',
            *table(['order', *(f'{role}, {kernel}' for role, kernel in columns)], rows)]


def part_of(values, role):
    total = sum(v for v in values.values() if v)
    return '-' if not total or values[role] is None else f'{values[role] / total:.0%}'


def shares(data):
    """Each role's part of all acquisitions and of all contentions of the four, before and after."""
    rows = []
    for order in figures.orders(data.rows('pagefault1-sides', ALL_612[0])):
        for load, source, measure in (('pagefault1-sides', 'entries', 'acquisitions'),
                                      ('pagefault1-orders', 'contention', 'contentions')):
            sides = [{role: data.mean(load, kernel, source, f'lock.{role}.{measure}', order)
                      for role in ROLES} for kernel in ALL_612]
            rows.append([str(order), measure, *(
                f'{part_of(sides[0], role)} → {part_of(sides[1], role)}' for role in ROLES)])
    if not rows:
        return NOT_RUN
    return ['Each role\'s part of the acquisitions (`entries`) and contentions (`contention`) of these four, '
            'stock → lru-batch:', '', *table(['order', 'of', *ROLES], rows)]


def times(data):
    """The three columns of the original."""
    columns = (('base: nothing cut, 6.1-unmap-locks-plain', 'storm-time-whole', TIMES[0]),
               ('regressed: 6.1-unmap-locks-plain', 'storm-time', TIMES[0]),
               ('fixed: 6.1-stock-plain', 'storm-time', TIMES[1]))
    if not all(data.paths(load, kernel) for _, load, kernel in columns):
        return NOT_RUN
    rows = [[what, *(with_spread(figures.by_boot(data.rows(load, kernel), source, metric), scale)
                     for _, load, kernel in columns)]
            for what, source, metric, scale in (
                ('elapsed, s', 'time', 'elapsed', 1), ('user, s', 'time', 'user', 1),
                ('system, s', 'time', 'system', 1),
                ('one madvise, mean, µs', 'latency', 'latency.madvise.mean', 1e-3),
                ('one madvise, slowest hundredth, µs', 'latency', 'latency.madvise.p99', 1e-3))]
    return ['Four storms at once on the kernels without LOCK_STAT. In the original\'s base thread stacks were no huge pages and '
            'nothing was cut; here `storm-whole`, which drops 0x600000 bytes, stands for it:', '',
            *table(['', *(name for name, *_ in columns)], rows)]


def profile(data):
    kernels = ('6.12-stock-plain', '6.12-lru-batch-plain')
    sides = [data.rows('pagefault1-profile', kernel) for kernel in kernels]
    names = {name for rows in sides for row in rows for name in row['metrics']
             if row['pass'] == 'profile' and re.fullmatch(r'lock\.[^.]+\.share', name)}
    rows = []
    for name in names:
        values = [figures.by_boot(side, 'profile', name, 2) for side in sides]
        most = max((statistics.mean(v) for v in values if v), default=0)
        if most >= LEAST_SHARE:
            rows.append((-most, [name.split('.')[1], *(with_spread(v, 100) for v in values)]))
    if not rows:
        return NOT_RUN
    return ['Percent of CPU time in code that takes or waits for a lock, order 2:', '',
            *table(['role', *kernels], [row for _, row in sorted(rows)])]


def blocks(text):
    """Lines of `diff --format records`: the head, then a metric with a line for each side."""
    found = [[]]
    for line in text.splitlines():
        if re.match(r'\S', line):
            found.append([])
        found[-1].append(line)
    return found


def records(data):
    kernel = '6.12-stock-plain'
    sides = [data.paths(load, kernel) for load in ('reclaim-small', 'reclaim-64k')]
    if not all(sides):
        return NOT_RUN
    with tempfile.TemporaryDirectory() as folder:
        columns = [[figures.joined(paths, os.path.join(folder, f'{name}.json'))]
                   for name, paths in zip(('4k', '64k'), sides)]
        said = figures.diff(*columns, form='records', options=('--vary', 'mthp'))
    kept = []
    for block in blocks(said):
        name = block[0].split()[0] if block and block[0].strip() else ''
        zero = not any(re.search(r'[1-9]', re.sub(r'\S+', '', line, count=1)) for line in block[1:])
        if name == 'metric' or name in TIMES_OF_RUN or RECLAIM.match(name) and not zero:
            kept += block
    return ['`mmtape diff --format records --vary mthp`, fields of reclaim that are not 0 on both sides:', '',
            '```', *kept, '```']


def debian(data):
    rows = []
    for load, kernel in (('storm-entries', 'debian-6.1'), ('pagefault1-entries', 'debian-6.12')):
        found = data.rows(load, kernel)
        names = sorted({name for row in found if row['pass'] == 'entries'
                        for name, value in row['metrics'].items() if value and PARTS.fullmatch(name)})
        for order in figures.orders(found) or [None]:
            for name in names:
                counts = figures.by_boot(found, 'entries', name, order)
                if any(counts):
                    rows.append([kernel, LOADS[load].sample, '-' if order is None else str(order),
                                 name[len('lock.'):-len('.acquisitions')], with_spread(counts)])
    if not rows:
        return NOT_RUN
    return ['Acquisitions by `entries`:', '',
            *table(['kernel', 'sample', 'order', 'lock, side, path', 'acquisitions'], rows)]


TABLES = {name: globals()[name] for name in ('orders', 'shares', 'times', 'profile', 'records',
                                             'debian')}
