# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/cases/null.py on made-up boots, with noise like that of acquisitions and of times."""
import json
import os
import random
import subprocess
import sys
import tempfile

import lib

TOOL = os.path.join(lib.ROOT, 'tests', 'cases', 'null.py')
UNITS = {'elapsed': 's', 'system': 's', 'lock.lru.acquisitions_per_operation': 'per operation',
         'lock.deferred-split.acquisitions_per_operation': 'per operation'}


def boots(count, seed, orders=(None,)):
    """Acquisitions vary by 0.3% and are now and then a few more; times by 2%, with a common part
    and a slow boot in twenty; one count hardly varies at all."""
    draw = random.Random(seed)
    rows = []
    for boot in range(count):
        slow = draw.gauss(0, 0.01) + (0.04 if draw.random() < 0.05 else 0)
        for order in orders:
            row = {'boot': boot, 'round': 0}
            if order is not None:
                row['order'] = order
            rows.append({**row, 'pass': 'time', 'metrics': {
                'elapsed': 4 * (1 + slow + draw.gauss(0, 0.015)),
                'system': 7 * (1 + slow + draw.gauss(0, 0.01)),
                'vmstat.pgfault': 1000 + int(draw.gauss(0, 5))}})
            more = draw.randrange(50) if draw.random() < 0.1 else 0
            rows.append({**row, 'pass': 'lock_stat', 'metrics': {
                'lock.lru.acquisitions_per_operation':
                    (34000 + draw.gauss(0, 100) + more) / 131072,
                'lock.deferred-split.acquisitions_per_operation':
                    (508 + (draw.random() < 0.1)) / 2049}})
    return {
        'schema': 'mmtape-result', 'version': 1, 'primary': list(UNITS), 'units': UNITS,
        'better': {name: 'less' for name in UNITS}, 'denominators': {}, 'repetitions': rows,
        'provenance': {'trace_id': 't', 'kernel': 'k', 'kernel_version': '#1'},
        'fidelity': {'plan': {}, 'lost': 0, 'mismatches': 0}}


def run(tree, *args, status=0, program=None):
    with tempfile.TemporaryDirectory() as folder:
        path = lib.store(folder, 'boots.json', json.dumps(tree).encode())
        done = subprocess.run([sys.executable, TOOL, path, *args], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False, timeout=110,
                              env={**os.environ, 'MMTAPE': program or lib.MMTAPE})
    assert done.returncode == status, f'exit {done.returncode}: {done.stdout}{done.stderr}'
    print('  ', (done.stdout or done.stderr).splitlines()[0])
    return done


def test_same_kernel_is_silent():
    run(boots(24, 1))
    run(boots(10, 2, orders=(2, 4, 9)))


def test_splits_are_distinct_and_repeatable():
    first = json.loads(run(boots(10, 3), '--json').stdout)
    assert first == json.loads(run(boots(10, 3), '--json').stdout)
    assert (first['splits'], first['silent'], first['boots']) == (100, 0, 10)
    assert first['judged'] == sorted(UNITS)
    done = run(boots(9, 3), status=2)
    assert '9 boots cannot be split 5 to 5' in done.stderr
    run(boots(10, 3), '--number=127', status=2)


def test_five_percent_are_found():
    # 184,756 arrangements each: few trials here, all hundred in the report of the cases.
    run(boots(24, 4), '--power=lock.lru.acquisitions*', '--number=20')
    run(boots(24, 5), '--power=elapsed', '--number=20')
    done = run(boots(24, 6, orders=(2, 4)), '--power=lock.lru.*', '--order=2', '--number=5',
               '--json')
    names = json.loads(done.stdout)['names']
    assert list(names) == ['lock.lru.acquisitions_per_operation, order 2'], names


def test_what_is_not_there_is_not_found():
    run(boots(24, 4), '--power=elapsed', '--percent=0.5', '--number=5', status=1)
    done = run(boots(24, 4), '--power=nothing', status=2)
    assert 'no metric nothing' in done.stderr


def test_a_program_that_finds_too_much_fails():
    said = {'columns': [{}, {'reasons': []}], 'metrics': [
        {'name': 'elapsed', 'order': None, 'family': 'primary', 'changed': True, 'change': 0.1,
         'verdict': 'worse'}]}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'liar')
        for verdict in (said, {**said, 'metrics': []}):
            with open(path, 'w', encoding='utf-8') as f:
                f.write(f'#!/bin/sh\ncat <<"END"\n{json.dumps(verdict)}\nEND\n')
            os.chmod(path, 0o755)
            done = run(boots(10, 1), '--number=10', status=1, program=path)
    assert '10 could not be judged' in done.stdout, done.stdout


lib.main(globals())
