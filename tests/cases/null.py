#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How often does diff find something where nothing is, and how often something that is there?

null: random splits of the boots of one kernel into two sides; counts those where diff finds a
difference in a primary metric. power: the same, with one measure of the second side made larger;
counts those where diff finds it. Both are done on real results with at least twice as many boots
as a side takes. Primary metrics are a family of their own, so the others are left out of the
files: that is the same answer in a fraction of the time."""
import argparse
import concurrent.futures
import copy
import fnmatch
import json
import math
import os
import random
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MMTAPE = os.environ.get('MMTAPE', os.path.join(ROOT, 'build', 'mmtape'))


class Unsuitable(Exception):
    """The results cannot show what is asked; one line says why."""


def load(paths):
    """The head of the first result and the rows of every boot of all of them."""
    boots, head = [], None
    for path in paths:
        with open(path, encoding='utf-8') as f:
            tree = json.load(f)
        by_boot = {}
        for row in tree.pop('repetitions'):
            by_boot.setdefault(row['boot'], []).append(row)
        boots += [by_boot[boot] for boot in sorted(by_boot)]
        head = head or tree
    return head, boots


def keep(boots, wanted):
    """The boots' rows with nothing but the metrics wanted."""
    slim = []
    for rows in boots:
        rows = [{**row, 'metrics': {k: v for k, v in row['metrics'].items() if wanted(k)}}
                for row in rows]
        slim.append([row for row in rows if row['metrics']])
    return slim


def splits(count, size, number, seed):
    """Distinct pairs of disjoint sets of boots, which side is which left aside."""
    draw, seen = random.Random(seed), []
    ways = math.comb(count, size) * math.comb(count - size, size) // 2
    if count < 2 * size or ways < number:
        raise Unsuitable(f'{count} boots cannot be split {size} to {size} in {number} ways')
    while len(seen) < number:
        drawn = draw.sample(range(count), 2 * size)
        pair = frozenset((frozenset(drawn[:size]), frozenset(drawn[size:])))
        if pair not in seen:
            seen.append(pair)
            yield sorted(drawn[:size]), sorted(drawn[size:])


def write(folder, name, head, boots, chosen, change):
    rows = []
    for number, boot in enumerate(chosen):
        for row in copy.deepcopy(boots[boot]):
            row['boot'] = number
            for metric in row['metrics']:
                row['metrics'][metric] *= change(metric, row.get('order'))
            rows.append(row)
    path = os.path.join(folder, name)
    with open(path, 'w', encoding='utf-8') as f:
        json.dump({**head, 'repetitions': rows}, f)
    return path


def compare(head, boots, pair, change):
    """What diff says of one split."""
    with tempfile.TemporaryDirectory() as folder:
        a = write(folder, 'a.json', head, boots, pair[0], lambda metric, order: 1)
        b = write(folder, 'b.json', head, boots, pair[1], change)
        done = subprocess.run([MMTAPE, 'diff', '--format=json', a, b], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False, timeout=600)
    if done.returncode not in (0, 3):
        raise Unsuitable(done.stderr.strip() or f'mmtape diff: exit {done.returncode}')
    return json.loads(done.stdout)


def compare_all(head, boots, pairs, change):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(lambda pair: compare(head, boots, pair, change), pairs)


def judged(metrics):
    """A metric may be shown without verdict by rule; one that is judged is better, worse, same
    or changed."""
    return [m for m in metrics if m['changed'] or m['verdict'] != 'none']


def null(paths, size=5, number=100, seed=1):
    """Splits with a primary finding, splits in which nothing could be judged, what was found."""
    head, boots = load(paths)
    boots = keep(boots, lambda metric: metric in head['primary'])
    found, silent, names, primary = 0, 0, {}, set()
    for tree in compare_all(head, boots, splits(len(boots), size, number, seed),
                            lambda metric, order: 1):
        metrics = judged(m for m in tree['metrics'] if m['family'] == 'primary')
        primary |= {m['name'] for m in metrics}
        changed = [m for m in metrics if m['changed']]
        found += bool(changed)
        silent += not metrics or bool(tree['columns'][1]['reasons'])
        for m in changed:
            names[label(m)] = names.get(label(m), 0) + 1
    return {'splits': number, 'size': size, 'boots': len(boots), 'found': found,
            'silent': silent, 'names': names, 'judged': sorted(primary)}


def label(metric):
    order = metric.get('order')
    return metric['name'] + ('' if order is None else f', order {order}')


def power(paths, pattern, percent=5.0, order=None, size=10, number=100, seed=2):
    """Trials in which the injected change is found, in any order it was injected into."""
    head, boots = load(paths)
    names = {m for rows in boots for row in rows for m in row['metrics']}
    injected = {m for m in names if fnmatch.fnmatch(m, pattern)}
    if not injected:
        raise Unsuitable(f'no metric {pattern} in {paths[0]}')
    boots = keep(boots, lambda metric: metric in head['primary'] or metric in injected)

    def change(metric, of):
        return 1 + percent / 100 if metric in injected and order in (None, of) else 1

    found, by_key = 0, {}
    for tree in compare_all(head, boots, splits(len(boots), size, number, seed), change):
        hit = False
        for m in tree['metrics']:
            if m['name'] not in injected or order not in (None, m.get('order')):
                continue
            seen = m['changed'] and (m['change'] > 0) == (percent > 0)
            by_key[label(m)] = by_key.get(label(m), 0) + seen
            hit |= seen
        found += hit
    return {'trials': number, 'size': size, 'boots': len(boots), 'percent': percent,
            'found': found, 'names': by_key}


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('result', nargs='+', help='results of one kernel, with boots')
    parser.add_argument('--power', metavar='PATTERN', help='inject into these metrics')
    parser.add_argument('--order', type=int, help='inject into this folio order only')
    parser.add_argument('--percent', type=float, default=5, help='how much (default: 5)')
    parser.add_argument('--size', type=int, help='boots a side (5, or 10 with --power)')
    parser.add_argument('--number', type=int, default=100, help='splits or trials')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--asked', type=int, help='at most so many findings (5%% of the splits), '
                        'or with --power at least (80%% of the trials)')
    parser.add_argument('--json', action='store_true', help='print all figures')
    return parser.parse_args(arguments)


def run(o):
    """The figures, a line about them, and whether they are what was asked."""
    if o.power:
        asked = o.number * 8 // 10 if o.asked is None else o.asked
        r = power(o.result, o.power, o.percent, o.order, o.size or 10, o.number, o.seed)
        return r, (f"power: {o.percent:+g}% found in {r['found']} of {r['trials']} trials, "
                   f"{r['size']} boots a side (asked: at least {asked})"), r['found'] >= asked
    asked = o.number // 20 if o.asked is None else o.asked
    r = null(o.result, o.size or 5, o.number, o.seed)
    return r, (f"null: {r['found']} of {r['splits']} splits with a primary finding, {r['size']} "
               f"boots a side of {r['boots']} (asked: at most {asked}); {r['silent']} could not "
               f"be judged; {len(r['judged'])} metrics judged"
               ), r['found'] <= asked and not r['silent']


def main():
    o = parse(sys.argv[1:])
    try:
        figures, line, good = run(o)
    except (Unsuitable, OSError, ValueError, KeyError) as why:
        print(f'null.py: {why}', file=sys.stderr)
        return 2
    if o.json:
        print(json.dumps(figures, indent=1))
    else:
        print(line)
        for name, times in sorted(figures['names'].items()):
            print(f'  {times:4} {name}')
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
