# SPDX-License-Identifier: GPL-2.0-or-later
"""mmtape diff from outside: goldens of every format, exit statuses, broken files.

Goldens are in tests/golden/diff; tests/golden/regenerate writes them anew. The results they
are made of come from make-inputs there."""
import copy
import csv
import io
import json
import os
import tempfile

import lib

FOLDER = os.path.join(lib.ROOT, 'tests', 'golden', 'diff')
BASE = os.path.join(FOLDER, 'base.json')
PATCHED = os.path.join(FOLDER, 'patched.json')
FORMATS = {'block': 'txt', 'records': 'txt', 'csv': 'csv', 'json': 'json', 'markdown': 'md'}


def load(path):
    with open(path, encoding='utf-8') as f:
        return json.load(f)


def store(folder, name, tree):
    path = os.path.join(folder, name)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(tree if isinstance(tree, str) else json.dumps(tree))
    return path


def one_line_error(status, *args, words=()):
    done = lib.expect(status, 'diff', *args)
    assert not done.stdout, done.stdout
    assert done.stderr.count('\n') == 1, f'not one line: {done.stderr!r}'
    for word in words:
        assert word in done.stderr, f'{word!r} is not in {done.stderr!r}'


def golden(name, got):
    path = os.path.join(FOLDER, name)
    if os.environ.get('MMTAPE_REGENERATE'):
        with open(path, 'w', encoding='utf-8') as f:
            f.write(got)
    with open(path, encoding='utf-8') as f:
        assert f.read() == got, f'{path} differs:\n{got}'


def run(*args, status=0):
    """Standard output, with file names that are the same everywhere."""
    return lib.expect(status, 'diff', *args, cwd=FOLDER).stdout


def test_goldens():
    for name, ending in FORMATS.items():
        golden(f'{name}.{ending}', run('--format', name, 'base.json', 'patched.json'))
    golden('all.txt', run('--all', 'base.json', 'patched.json'))
    golden('three.txt', run('base.json', 'patched.json', 'base.json'))


def test_goldens_of_locks():
    """By role, and by folio order where sizes were swept."""
    golden('role.txt', run('locks.json', 'looks.json'))
    golden('role.md', run('--format=markdown', 'locks.json', 'looks.json'))
    golden('order.txt', run('stock.json', 'batch.json'))
    golden('order.md', run('--format=markdown', 'stock.json', 'batch.json'))
    golden('order-records.txt', run('--format=records', 'stock.json', 'batch.json'))
    for line in run('stock.json', 'batch.json').splitlines():
        assert len(line) <= 80, line


def test_orders_are_apart():
    tree = json.loads(run('--format=json', 'stock.json', 'batch.json'))
    metrics = {(m['name'], m['order']): m for m in tree['metrics']}
    assert len(metrics) == len(tree['metrics'])
    for order, verdict in ((2, 'better'), (3, 'better'), (4, 'better'), (5, 'same'), (9, 'same')):
        m = metrics['lock.lru.acquisitions_per_folio', order]
        assert m['verdict'] == verdict and m['family'] == 'lock.acquisitions', m
        assert m['a']['n'] == 5, m
        m = metrics['lock.lru.wait', order]
        assert m['verdict'] == 'none' and m['p'] is None and 'virtual CPUs' in m['why'], m
        m = metrics['elapsed', order]
        assert m['verdict'] == 'none' and 'lockdep' in m['why'], m
    assert metrics['lock.zone-alloc.contentions', 4]['verdict'] == 'worse'
    assert '10-fold' in metrics['lock.zone-alloc.contentions', 3]['why']
    rows = list(csv.DictReader(io.StringIO(run('--format=csv', 'stock.json', 'batch.json'))))
    assert {(r['metric'], int(r['order'])) for r in rows} == set(metrics)
    tree = json.loads(run('--format=json', 'locks.json', 'looks.json'))
    assert {m['order'] for m in tree['metrics']} == {None}


def test_counts_that_do_not_vary():
    tree = json.loads(run('--format=json', 'locks.json', 'looks.json'))
    metrics = {m['name']: m for m in tree['metrics']}
    cut = metrics['lock.deferred-split.unmap.madvise.acquisitions_per_cut']
    assert (cut['a']['mean'], cut['b']['mean'], cut['verdict']) == (507, 1, 'better')
    rest = metrics['lock.deferred-split.unmap.munmap.acquisitions_per_cut']
    assert (rest['change'], rest['verdict']) == (-1, 'better')
    slab = metrics['lock.slab.acquisitions']
    assert (slab['change'], slab['verdict'], slab['p']) == (None, 'worse', None)
    assert metrics['lock.anon_vma.acquisitions_per_operation']['verdict'] == 'same'
    # Contentions count fully where CPUs are real.
    assert metrics['lock.lru.contentions']['verdict'] == 'worse'


def test_json_is_what_scripts_rely_on():
    tree = json.loads(run('--format=json', 'base.json', 'patched.json'))
    metrics = {m['name']: m for m in tree['metrics']}
    for m in metrics.values():
        assert {'name', 'unit', 'family', 'a', 'b', 'change', 'verdict'} <= set(m)
        assert {'mean', 'stddev', 'n'} <= set(m['a']) and {'mean', 'stddev', 'n'} <= set(m['b'])
        assert m['verdict'] in ('better', 'worse', 'same', 'none')
        assert m['why'] or m['verdict'] != 'none'
    assert metrics['system']['verdict'] == 'better'
    assert -0.45 < metrics['system']['change'] < -0.3
    assert metrics['elapsed']['verdict'] == 'same'
    assert metrics['system']['family'] == 'primary'
    assert metrics['vmstat.pgrotated']['change'] is None


def test_csv_reads_back():
    rows = list(csv.DictReader(io.StringIO(run('--format=csv', 'base.json', 'patched.json'))))
    names = {m['name'] for m in json.loads(run('-f', 'json', 'base.json', 'patched.json'))['metrics']}
    assert len(rows) == len(names)
    assert {r['verdict'] for r in rows} >= {'better', 'same'}


def test_no_terminal_escape_gets_through():
    for name in FORMATS:
        text = run('--all', '--format', name, 'base.json', 'patched.json')
        assert '\x1b' not in text, name
        assert name == 'json' or '\u202e' not in text, name
    assert "\n'=cmd" in run('--format=csv', 'base.json', 'patched.json')


def test_block_fits_a_mail():
    for line in run('base.json', 'patched.json').splitlines():
        assert len(line) <= 80, line


def test_fail_on():
    both = ('base.json', 'patched.json')
    run('--fail-on', 'system<-20%', *both, status=1)
    run('--fail-on', 'system>5%', *both, status=0)
    run('--fail-on', 'elapsed>0%', *both, status=0)
    run('--fail-on', 'vmstat.pgrotated>1000%', *both, status=1)
    run('--fail-on', 'elapsed>5%,system<-20%', *both, status=1)
    swept = ('batch.json', 'stock.json')
    run('--fail-on', 'lru.acquisitions_per_folio>5%', *swept, status=1)
    run('--fail-on', 'lock.lru.acquisitions_per_folio@2>5%', *swept, status=1)
    run('--fail-on', 'lru.acquisitions_per_folio@5>5%', *swept, status=0)
    run('--fail-on', 'lru.acquisitions_per_folio>5%', *reversed(swept), status=0)
    run('--fail-on', 'lru.wait>5%', *swept, status=3)
    for unknown in ('lru.nothing', 'lru.wait@8', 'lru.wait@', 'lru.wait@2x', '@2'):
        done = lib.expect(2, 'diff', '--fail-on', unknown + '>5%', *swept, cwd=FOLDER)
        assert f"no metric '{unknown}'" in done.stderr, done.stderr
    one_line_error(2, '--fail-on', 'system', BASE, PATCHED, words=['--fail-on', 'system'])
    one_line_error(2, '--fail-on', 'system>5', BASE, PATCHED, words=['--fail-on'])


def test_a_sweep_may_change_its_own_sizes():
    def sides(folder, sizes, key):
        for name, path in (('a', BASE), ('b', PATCHED)):
            tree = load(path)
            tree['provenance'].setdefault('options', {})['mthp_sweep'] = sizes
            tree['provenance']['settings_before'][key] = 'inherit'
            tree['provenance']['settings_after'][key] = 'always'
            yield store(folder, name + '.json', tree)

    with tempfile.TemporaryDirectory() as folder:
        lib.expect(0, 'diff', *sides(folder, '16k,2m', 'thp_2048kB'))
        for sizes, key in (('', 'thp_2048kB'), ('16k,2m', 'thp_defrag')):
            done = lib.expect(3, 'diff', *sides(folder, sizes, key))
            assert f'changed the setting {key} while it ran' in done.stdout, done.stdout


def test_verdict_withheld():
    with tempfile.TemporaryDirectory() as folder:
        other = load(PATCHED)
        other['provenance']['settings_before']['thp'] = 'never'
        other['provenance']['settings_after']['thp'] = 'never'
        path = store(folder, 'never.json', other)
        done = lib.expect(3, 'diff', BASE, path)
        assert 'thp differs' in done.stdout and 'no verdict' in done.stderr
        lib.expect(0, 'diff', '--vary', 'thp', BASE, path)
        lib.expect(3, 'diff', '--fail-on', 'system<-20%', BASE, path)
        other = load(os.path.join(FOLDER, 'looks.json'))
        other['provenance']['sources'][1]['name'] = 'lock_stat'
        path = store(folder, 'source.json', other)
        done = lib.expect(3, 'diff', os.path.join(FOLDER, 'locks.json'), path)
        assert 'what observed the locks differs: entries against lock_stat' in done.stdout
        lib.expect(0, 'diff', '--vary=sources', os.path.join(FOLDER, 'locks.json'), path)
        other['provenance']['sources'][1] = {'name': 'entries', 'used': True, 'dropped': 12}
        path = store(folder, 'dropped.json', other)
        done = lib.expect(3, 'diff', os.path.join(FOLDER, 'locks.json'), path)
        assert 'B: entries lost 12 events: no verdict on its figures' in done.stdout, done.stdout
        assert 'no verdict: the source lost events' in done.stdout, done.stdout
        few = load(PATCHED)
        few['repetitions'] = few['repetitions'][:4]
        done = lib.expect(3, 'diff', BASE, store(folder, 'few.json', few))
        assert 'at least 5' in done.stdout


def test_pooled_boots():
    with tempfile.TemporaryDirectory() as folder:
        names = {}
        for kernel, path in (('a', BASE), ('b', PATCHED)):
            for boot in range(5):
                tree = load(path)
                for row in tree['repetitions']:
                    row['metrics'] = {k: v * (1 + 0.001 * boot) for k, v in row['metrics'].items()}
                names.setdefault(kernel, []).append(store(folder, f'{kernel}{boot}.json', tree))
        done = lib.expect(0, 'diff', ','.join(names['a']), ','.join(names['b']))
        assert '5 boots' in done.stdout
        one_line_error(1, f'{BASE},{BASE}', PATCHED, words=['same runs'])


def test_null():
    lib.expect(0, 'diff', '--null', BASE, BASE, PATCHED)
    one_line_error(1, '--null', PATCHED, BASE, PATCHED, words=['--null', 'another kernel'])


def test_broken_files():
    text = json.dumps(load(BASE))
    with tempfile.TemporaryDirectory() as folder:
        for at in range(0, len(text), 97):
            one_line_error(1, store(folder, 'cut.json', text[:at]), PATCHED, words=['cut.json'])
        for key, value, words in (
                ('version', 99, ['newer']), ('schema', 'other', ['not a result']),
                ('repetitions', 5, ['repetitions']), ('primary', 'x', ['primary'])):
            tree = copy.deepcopy(load(BASE))
            tree[key] = value
            one_line_error(1, store(folder, 'bad.json', tree), PATCHED, words=['bad.json', *words])
        one_line_error(1, store(folder, 'nan.json', text.replace('38000', 'NaN')), PATCHED,
                       words=['nan.json'])
        one_line_error(1, store(folder, 'huge.json', text.replace('38000', '1e999')), PATCHED,
                       words=['huge.json', 'too large'])
        one_line_error(1, store(folder, 'large.json', text.replace('38000', '1e200')), PATCHED,
                       words=['large.json', '1e100'])
    one_line_error(1, '/nonexistent.json', PATCHED, words=['/nonexistent.json', 'No such file'])
    one_line_error(1, '/', PATCHED, words=['directory'])


def test_usage():
    one_line_error(2, BASE, words=['from 2'])
    one_line_error(2, '--format=xml', BASE, PATCHED, words=['--format', 'records'])


def test_full_disk():
    with open('/dev/full', 'w', encoding='utf-8') as full:
        done = lib.subprocess.run([lib.MMTAPE, 'diff', BASE, PATCHED], stdout=full,
                                  stderr=lib.subprocess.PIPE, text=True, check=False, timeout=60)
    assert done.returncode == 1 and 'No space' in done.stderr, done


lib.main(globals())
