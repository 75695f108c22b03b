# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/cases/run on results that are there already: what it prints, its page, and what it says of what is missing."""
import json
import os
import subprocess
import sys
import tempfile

import lib

TOOLS = os.path.join(lib.ROOT, 'tests', 'cases')
GOLDEN = os.path.join(lib.ROOT, 'tests', 'golden', 'diff')
sys.path.insert(0, TOOLS)

import lab
from loads import LOADS

S2 = (('6.12-stock', 'stock.json'), ('6.12-lru-batch', 'batch.json'))


def run(*args):
    return subprocess.run([sys.executable, os.path.join(TOOLS, 'run'), *args],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False, timeout=100)


UNRESOLVED = 'lock.unresolved.share_of_'


def with_waiters(rows):
    """And rows of the pass that counts those who wait, with the contentions that lock_stat has; what is unresolved."""
    for row in rows:
        if row['pass'] != 'lock_stat':
            yield row
            continue
        waits = {k: v for k, v in row['metrics'].items() if k.endswith('.contentions')}
        yield {**row, 'metrics': {**row['metrics'], UNRESOLVED + 'lock_stat': 0.001}}
        yield {**row, 'pass': 'contention', 'metrics': {**waits, UNRESOLVED + 'contention': 0}}


def keep(out, load, kernel, golden, change=lambda row: row):
    """The boots of a golden result, as the lab leaves them."""
    tree = json.loads(lib.load(os.path.join(GOLDEN, golden)))
    bench = lab.Lab(out, None)
    for boot in sorted({row['boot'] for row in tree['repetitions']}):
        rows = [change({**row, 'boot': 0}) for row in with_waiters(tree['repetitions'])
                if row['boot'] == boot]
        made = os.path.join(out, 'made.json')
        with open(made, 'w', encoding='utf-8') as f:
            json.dump({**tree, 'repetitions': rows}, f)
        bench.keep(LOADS[load], kernel, boot, made)


def report(*args, change=lambda row: row):
    """What a report over the golden boots says, and the page."""
    with tempfile.TemporaryDirectory() as out:
        for kernel, golden in S2:
            keep(out, 'pagefault1-orders', kernel, golden, change)
        page = os.path.join(out, 'page.md')
        done = run('--resume', '--boots', '0', '--out', out, '--write-doc', page, *args)
        return done, lib.load(page).decode()


def test_what_was_asked_holds():
    done, page = report('--case', 'S2')
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'order 2: 1.04 → 0.069; order 3: 1.04 → 0.0699' in done.stdout, done.stdout
    assert 'does not hold' not in done.stdout and 'not measured' not in done.stdout
    assert '| about 1.0 → at most 0.1 | 1.04 → 0.069 | 1.04 → 0.0699 |' in page, page
    assert '| better | holds |' in page


def test_what_does_not_hold_is_said():
    def worse(row):
        name = 'lock.lru.acquisitions_per_folio'
        if row['order'] == 3 and name in row['metrics']:
            row['metrics'][name] += 0.5
        return row
    done, page = report('--case', 'S2', change=worse)
    assert done.returncode == 1
    assert 'order 3: 1.54 → 0.57 (does not hold)' in done.stdout, done.stdout
    assert 'does not hold' in page


def test_what_is_unresolved():
    def unresolved(share):
        def change(row):
            if row['order'] == 3 and UNRESOLVED + 'contention' in row['metrics']:
                row['metrics'][UNRESOLVED + 'contention'] = share
            return row
        return report('--case', 'S2', change=change)
    done, page = unresolved(0.02)
    assert done.returncode == 0, done.stdout
    assert '| unresolved by contention, %: pagefault1-orders | 6.12-stock → 6.12-lru-batch | at most 2 | 0 → 0 | 2 → 2 |' in page, page
    done, page = unresolved(0.021)
    assert done.returncode == 1 and 'order 3: 2.1 → 2.1 (does not hold)' in done.stdout, done.stdout

    def unknown(row):
        row['metrics'].pop(UNRESOLVED + 'lock_stat', None)
        return row
    done, _ = report('--case', 'S2', change=unknown)
    assert done.returncode == 1 and 'order 2: - (not measured)' in done.stdout, done.stdout


def test_what_did_not_run_is_said():
    done, page = report('--case', 'S1')
    assert done.returncode == 1
    assert 'not run on 6.12-free-locks' in done.stdout, done.stdout
    section = page.split('## S4')[1].split('\n## ')[0]
    assert '# not run: 6.1-unmap-locks' in section and 'Not run.' in section
    assert 'holds' not in section


def test_a_result_made_otherwise_is_not_used():
    with tempfile.TemporaryDirectory() as out:
        for kernel, golden in S2:
            keep(out, 'pagefault1-orders', kernel, golden)
        with open(os.path.join(out, 'pagefault1-orders', '6.12-stock', '0.key'), 'a',
                  encoding='utf-8') as f:
            f.write('--copies 8\n')
        done = run('--case', 'S2', '--resume', '--boots', '0', '--out', out)
    assert done.returncode == 1
    assert 'not run on 6.12-stock:' in done.stdout, done.stdout


def test_kernel_that_is_missing_names_its_recipe():
    with tempfile.TemporaryDirectory() as out:
        done = run('--case', 'S2', '--boots', '1', '--kernels', out, '--out', out)
    assert done.returncode == 1
    assert 'replay/lab/build-kernel -o 6.12-stock.img' in done.stderr, done.stderr


def test_without_resume_old_results_do_not_count():
    with tempfile.TemporaryDirectory() as out:
        for kernel, golden in S2:
            keep(out, 'pagefault1-orders', kernel, golden)
        done = run('--case', 'S2', '--boots', '1', '--kernels', out, '--out', out)
    assert done.returncode == 1 and 'not run on' in done.stdout, done.stdout


def test_null_needs_boots():
    done, page = report('--case', 'null')
    assert done.returncode == 1
    assert 'pagefault1-null on 6.12-stock: 0 boots, 10 needed' in done.stderr, done.stderr
    assert 'not run' in page.split('## How often diff errs')[1]


lib.main(globals())
