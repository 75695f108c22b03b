# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of results: what diff says of two kernels, and means of single passes."""
import collections
import json
import statistics
import subprocess

import lab

# What diff says of a metric, and from which pass it took it.
Pair = collections.namedtuple('Pair', 'source changed verdict why')


class Unusable(Exception):
    """Results that cannot be compared; one line says why."""


def load_rows(paths):
    """The rows of all boots, each file a boot."""
    rows = []
    for boot, path in enumerate(paths):
        with open(path, encoding='utf-8') as f:
            rows += [{**row, 'boot': boot} for row in json.load(f)['repetitions']]
    return rows


def mean(rows, source, metric, order=None):
    """
    Mean over the boots, each the mean of its repetitions, in the pass of a source; None
    without any. A lock that a pass which counts locks does not mention was not taken.
    """
    values = by_boot(rows, source, metric, order)
    return statistics.mean(values) if values else None


def by_boot(rows, source, metric, order=None):
    measure = '.' + metric.rsplit('.', 1)[-1]
    found = collections.defaultdict(list)
    for row in rows:
        if row['pass'] != source or row.get('order') != order:
            continue
        if metric in row['metrics']:
            found[row['boot']].append(row['metrics'][metric])
        elif metric.startswith('lock.') and any(
                name.startswith('lock.') and name.endswith(measure) for name in row['metrics']):
            found[row['boot']].append(0)
    return [statistics.mean(found[boot]) for boot in sorted(found)]


def spread(values):
    """Standard deviation between boots in parts of the mean; None with fewer than two."""
    if len(values) < 2 or not statistics.mean(values):
        return None
    return statistics.stdev(values) / statistics.mean(values)


def text(value):
    """Three digits that count; what is more than that is whole."""
    if value is None:
        return '-'
    if value == 0:
        return '0'
    if abs(value) >= 100:
        return f'{value:,.0f}'
    return f'{value:.3g}'


def orders(rows):
    return sorted({row['order'] for row in rows if row.get('order') is not None})


def provenance(path):
    with open(path, encoding='utf-8') as f:
        return json.load(f)['provenance']


def joined(paths, path):
    """One result of several boots, so that diff names the column after its file."""
    with open(paths[0], encoding='utf-8') as f:
        tree = json.load(f)
    with open(path, 'w', encoding='utf-8') as f:
        json.dump({**tree, 'repetitions': load_rows(paths)}, f)
    return path


def diff(*columns, form='json', options=()):
    """What `mmtape diff` prints of columns that are lists of results."""
    done = subprocess.run([lab.MMTAPE, 'diff', '--format', form, *options,
                           *(','.join(paths) for paths in columns)],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False)
    if done.returncode not in (0, 3):
        raise Unusable(done.stderr.strip() or f'mmtape diff: exit {done.returncode}')
    return done.stdout


def compare(a, b, options=()):
    """{(metric, order): Pair}, and the reasons for which verdicts are withheld."""
    tree = json.loads(diff(a, b, options=options))
    found = {}
    for m in tree['metrics']:
        found[m['name'], m.get('order')] = Pair((m['a'] or {}).get('pass'), m['changed'], m['verdict'], m.get('why'))
    return found, tree['columns'][1]['reasons']
