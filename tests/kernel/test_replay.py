# SPDX-License-Identifier: GPL-2.0-or-later
"""Replays of fresh recordings: what is in the result, and that nothing is left behind."""
import json
import os
import signal
import subprocess
import tempfile

import lib

THP = '/sys/kernel/mm/transparent_hugepage/enabled'
NOBODY = 65534


class Recordings:
    """Made once, when first asked for."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix='mmtape-test-')
        os.chmod(self.folder.name, 0o755)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def get(self, name, *command):
        path = self.path(name + '.mmt.zst')
        if not os.path.exists(path):
            lib.need_tracefs()
            lib.expect(0, 'capture', '--quiet', '-o', path, '--', *command)
            os.chmod(path, 0o644)
        return path


recordings = Recordings()


def forks():
    return recordings.get('forks', 'sh', '-c', 'for i in 1 2 3 4 5; do ls / | wc -l; done')


def handover():
    return recordings.get('handover', lib.program('handover'))


def replay(trace, *options, status=0):
    out = recordings.path('result.json')
    lib.expect(status, 'replay', '--quiet', '--force', '-o', out, *options, trace)
    with open(out, encoding='utf-8') as file:
        return json.load(file)


def rows(result, name):
    return [row['metrics'] for row in result['repetitions'] if row['pass'] == name]


def mmtape_processes():
    """Every process that runs this mmtape."""
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            if os.readlink(f'/proc/{pid}/exe') == os.path.realpath(lib.MMTAPE):
                found.append(int(pid))
        except OSError:
            pass
    return found


def thp():
    with open(THP, encoding='utf-8') as file:
        return file.read().split('[')[1].split(']')[0]


def other_thp():
    if not os.path.exists(THP):
        raise lib.Skip('needs transparent huge pages')
    return 'never' if thp() != 'never' else 'madvise'


def test_forks_and_execs():
    result = replay(forks(), '--repeat', 2)
    fidelity, plan = result['fidelity'], result['fidelity']['plan']
    assert fidelity['mismatches'] == 0, fidelity
    assert fidelity['operations_done'] == fidelity['operations'], fidelity
    assert plan['tasks'] >= 11 and plan['spaces'] >= 10, plan
    assert len(rows(result, 'time')) == len(rows(result, 'latency')) == 2
    for metrics in rows(result, 'time'):
        assert metrics['elapsed'] > 0
        # Copy on write and populated pages make no event of their own, so more is possible.
        assert plan['touches'] <= metrics['faults'] + 32, (plan['touches'], metrics)
        assert 'vmstat.pgfault' in metrics
    for metrics in rows(result, 'latency'):
        assert 0 < metrics['latency.mmap.p50'] <= metrics['latency.mmap.p99']


def test_provenance():
    result = replay(forks(), '--repeat', 1, '--no-latency', '--order', 'serial')
    provenance = result['provenance']
    assert provenance['kernel'] == os.uname().release
    assert len(provenance['trace_id']) == 32
    assert '/' not in provenance['trace']
    assert provenance['options']['order'] == 'serial'
    assert provenance['settings_before'] == provenance['settings_after']
    assert result['primary'][0] == 'elapsed'


def test_every_placement_order_and_touch():
    for options in (('--place', 'kernel'), ('--place', 'thp-aligned'), ('--order', 'serial'),
                    ('--touch', 'dense'), ('--touch', 'region'), ('--copies', 3),
                    ('--pace', 'x2'), ('--pin', '0'), ('--fill', 'ratio=0.4'),
                    ('--file-backing', 'disk', '--file-cache', 'cold')):
        for trace in (forks(), handover()):
            fidelity = replay(trace, '--repeat', 1, '--warmup', 0, *options)['fidelity']
            assert fidelity['mismatches'] == 0, (options, fidelity)


def test_alignment_and_mappings_stand_beside_the_recorded():
    """On the kernel of the recording its placement comes out the same."""
    for place in ('traced', 'kernel'):
        fidelity = replay(handover(), '--repeat', 1, '--place', place)['fidelity']
        alignment = fidelity['alignment']
        assert alignment['placed_large'] > 0, alignment
        assert alignment['aligned_replayed'] == alignment['aligned_recorded'], alignment
        # The kernel keeps some mappings apart that look alike from outside.
        recorded = fidelity['mappings_recorded']
        assert 0 <= fidelity['mappings_replayed'] - recorded <= 8, fidelity
    alignment = replay(handover(), '--repeat', 1, '--place', 'thp-aligned')['fidelity']['alignment']
    assert alignment['aligned_replayed'] == alignment['placed_large'], alignment


def test_what_would_not_fit_is_refused():
    trace = recordings.get('faults', lib.program('pagefault1'), '--small')
    done = lib.expect(1, 'replay', '--copies', 1024, '--repeat', 1, trace)
    assert 'GiB' in done.stderr and '--force' in done.stderr, done.stderr


def test_copies_do_as_much_each():
    one = replay(handover(), '--repeat', 1, '--no-latency')['fidelity']
    three = replay(handover(), '--repeat', 1, '--no-latency', '--copies', 3)['fidelity']
    assert three['operations_done'] == 3 * one['operations_done']


def test_without_root():
    lib.need_root()
    trace = forks()

    def demote():
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    done = subprocess.run(['/proc/self/fd/9', 'replay', '--repeat', '1', trace],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                          preexec_fn=lambda: (os.dup2(os.open(lib.MMTAPE, os.O_RDONLY), 9),
                                              demote()), close_fds=False)
    assert done.returncode == 0, done.stderr
    assert 'mismatches   0' in done.stdout, done.stdout


def stopped_by(number):
    """Settings after a signal in the middle of a replay, and what it exited with."""
    lib.need_root()
    trace, before, during = handover(), thp(), other_thp()
    with lib.Running([lib.MMTAPE, 'replay', '--quiet', '--repeat', '9999', '--warmup', '0',
                      '--no-latency', '--thp', during, trace], stdout=subprocess.PIPE,
                     stderr=subprocess.PIPE, text=True) as process:
        lib.wait_for('the change of settings', lambda: thp() == during)
        lib.wait_for('replaying', lambda: len(mmtape_processes()) > 2)
        process.send_signal(number)
        err = process.communicate(timeout=20)[1]
    lib.wait_for('the end of all processes', lambda: not mmtape_processes())
    return before, process.returncode, err


def test_signals_stop_it_and_restore():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        before, status, err = stopped_by(number)
        assert thp() == before, number
        assert status == 1, (number, status, err)
        assert 'signal' in err, err


def test_a_kill_leaves_no_process_and_the_next_start_restores():
    before, status, _ = stopped_by(signal.SIGKILL)
    assert status == -signal.SIGKILL
    replay(forks(), '--repeat', 1, '--no-latency')
    assert thp() == before


def test_an_existing_result_is_kept():
    trace, out = forks(), recordings.path('kept.json')
    with open(out, 'w', encoding='utf-8') as file:
        file.write('mine')
    done = lib.expect(1, 'replay', '--repeat', 1, '-o', out, trace)
    assert '--force' in done.stderr, done.stderr
    with open(out, encoding='utf-8') as file:
        assert file.read() == 'mine'


def test_append_numbers_boots_and_refuses_others():
    out = recordings.path('boots.json')
    for _ in range(2):
        lib.expect(0, 'replay', '--quiet', '--no-latency', '--repeat=2', '--append', out, forks())
    with open(out, encoding='utf-8') as file:
        kept = file.read()
    assert [(row['boot'], row['round']) for row in json.loads(kept)['repetitions']] == [
        (0, 0), (0, 1), (1, 0), (1, 1)]
    said = lib.expect(1, 'replay', '--quiet', '--no-latency', '--repeat=1', '--copies=2', '--append',
                      out, forks()).stderr
    assert 'copies' in said and 'boots.json.' in said, said
    with open(out, encoding='utf-8') as file:
        assert file.read() == kept


def test_wrong_usage():
    for options in (('--copies', 0), ('--repeat', 0), ('--pace', 'fast'), ('--fill', 'ones'),
                    ('--place', 'nowhere'), ('--drop-rule', 'none')):
        done = lib.expect(2, 'replay', *options, 'x.mmt.zst')
        assert len(done.stderr.splitlines()) == 1, done.stderr
    lib.expect(2, 'replay')
    lib.expect(1, 'replay', '/nonexistent.mmt.zst')


def test_pinning_to_a_missing_cpu_is_refused():
    done = lib.expect(2, 'replay', '--pin', '1000', '--repeat', 1, forks())
    assert 'cpu 1000' in done.stderr, done.stderr


def test_a_cut_trace_needs_incomplete():
    cut = recordings.path('cut.mmt.zst')
    with open(handover(), 'rb') as file:
        data = file.read()
    with open(cut, 'wb') as file:
        file.write(data[:len(data) * 2 // 3])
    done = lib.expect(1, 'replay', '--repeat', 1, cut)
    assert len(done.stderr.splitlines()) == 1, done.stderr
    result = replay(cut, '--repeat', 1, '--incomplete', status=3)
    assert result['fidelity']['incomplete'] is True


def test_sources_have_passes_of_their_own():
    if not os.path.isdir('/sys/kernel/tracing/events/lock'):
        raise lib.Skip('needs the lock tracepoints')
    result = replay(forks(), '--repeat', 2, '--no-time', '--no-latency', '--sources', 'contention')
    assert not rows(result, 'time') and not rows(result, 'latency')
    assert len(rows(result, 'contention')) == 2
    for metrics in rows(result, 'contention'):
        assert metrics['lock.lru.contentions'] >= 0 and metrics['lock.mmap-lock.wait'] >= 0, metrics
    sources = {s['name']: s for s in result['provenance']['sources']}
    assert sources['contention']['used'] and sources['contention']['dropped'] == 0, sources
    assert not sources['profile']['used'] and '--sources' in sources['profile']['why'], sources


def test_a_source_that_does_not_work_is_said():
    if os.path.exists('/proc/lock_stat'):
        raise lib.Skip('this kernel has lock_stat')
    done = lib.expect(1, 'replay', '--repeat', 1, '--sources', 'lock_stat', forks())
    assert len(done.stderr.splitlines()) == 1 and 'CONFIG_LOCK_STAT' in done.stderr, done.stderr
    done = lib.expect(1, 'replay', '--repeat', 1, '--sources', 'locks', forks())
    assert "no source 'locks'" in done.stderr, done.stderr


def test_swept_sizes():
    sizes = '/sys/kernel/mm/transparent_hugepage/hugepages-64kB/'
    if not os.path.exists(sizes + 'stats/anon_fault_alloc'):
        raise lib.Skip('needs settings of folio sizes and their counters (Linux 6.10)')
    with open(sizes + 'enabled', encoding='ascii') as file:
        before = file.read()
    result = replay(lib.sample('pagefault1-4k'), '--repeat', 2, '--no-latency', '--touch', 'region',
                    '--mthp-sweep', '64k,16k')
    swept = [(row['round'], row['order']) for row in result['repetitions']]
    assert swept == [(0, 4), (0, 2), (1, 4), (1, 2)], swept
    for row in result['repetitions']:
        size = {4: '64kB', 2: '16kB'}[row['order']]
        assert row['metrics'][f'thp.{size}.anon_fault_alloc'] > 100, row
    with open(sizes + 'enabled', encoding='ascii') as file:
        assert file.read() == before


def test_internal_command_refuses_strangers():
    done = lib.expect(1, 'replay-space', '--plan', 0, '--state', 0, '--task', 0)
    assert 'internal' in done.stderr, done.stderr


lib.main(globals())
