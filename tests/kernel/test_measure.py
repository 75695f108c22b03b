# SPDX-License-Identifier: GPL-2.0-or-later
"""The command measure: what it counts, how it ends, and that nothing is left behind."""
import json
import os
import signal
import subprocess
import sys
import tempfile

import lib

folder = tempfile.TemporaryDirectory(prefix='mmtape-test-')


def path(name):
    return os.path.join(folder.name, name)


def load(name):
    with open(name, encoding='utf-8') as file:
        return json.load(file)


def measure(*arguments, status=0, **more):
    """The result of a run; arguments are options, then -- and the command."""
    out = path('result.json')
    lib.expect(status, 'measure', '--quiet', '--force', '-o', out, *arguments, **more)
    return load(out)


def rows(result, name='time'):
    return [row['metrics'] for row in result['repetitions'] if row['pass'] == name]


ONCE = ('--repeat=1', '--warmup=0')


def test_rows():
    result = measure('--repeat=3', '--', 'true')
    assert len(rows(result)) == 3 and len(result['repetitions']) == 3
    for row in rows(result):
        assert row['elapsed'] > 0 and row['faults'] > 0
        assert row['user'] + row['system'] < row['elapsed'] + 0.02
        assert any(name.startswith('vmstat.') for name in row)
    assert result['primary'][:2] == ['elapsed', 'system']


def test_what_the_command_prints_passes_through():
    done = lib.expect(0, 'measure', '--quiet', '--repeat=2', '--warmup=1', '--', 'sh', '-c',
                      'echo out; echo err >&2')
    assert done.stdout == 'out\n' * 3 and done.stderr == 'err\n' * 3


def test_input_belongs_to_a_single_run():
    with open(path('input'), 'w+', encoding='utf-8') as file:
        file.write('some text\n')
        file.seek(0)
        assert lib.expect(0, 'measure', '--quiet', *ONCE, '--', 'cat',
                          stdin=file).stdout == 'some text\n'
        file.seek(0)
        assert lib.expect(0, 'measure', '--quiet', '--repeat=2', '--', 'cat',
                          stdin=file).stdout == ''


def test_status_is_passed_on():
    assert measure('--', 'sh', '-c', 'exit 7', status=7)['fidelity']['plan'] == {'status': 7}
    measure(*ONCE, '--', 'sh', '-c', 'kill -TERM $$', status=128 + signal.SIGTERM)


def test_the_first_status_that_is_not_0():
    count = path('count')
    result = measure('--repeat=3', '--warmup=0', '--', 'sh', '-c',
                     f'echo >> {count}; case $(wc -l < {count}) in 2) exit 5;; 3) exit 6;; esac',
                     status=5)
    assert result['fidelity']['plan'] == {'status': 0}
    assert result['fidelity']['mismatches'] == 2


def test_started_with_its_childrens_end_ignored():
    done = subprocess.run([lib.MMTAPE, 'measure', '--quiet', *ONCE, '--', 'sh', '-c', 'exit 4'],
                          check=False, timeout=60,
                          preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    assert done.returncode == 4


def test_own_failures():
    lib.expect(127, 'measure', '--', 'no-such-command-here')
    lib.expect(126, 'measure', '--', '/etc/passwd')
    assert 'no such directory' in lib.expect(125, 'measure', '-o', '/no/such/r.json', '--',
                                             'true').stderr
    for wrong in (('--',), ('-o', '-', 'true'), ('--no-time', 'true'),
                  ('-o', 'a', '--append', 'b', 'true'), ('--repeat=0', 'true')):
        done = lib.expect(2, 'measure', *wrong)
        assert done.stderr.count('\n') == 1, done.stderr


def test_descendants_are_waited_for_and_counted():
    """One that left its session and lost its parent, with its memory."""
    mark = path('mark')
    child = ("import time\nb = bytearray(32 << 20)\nfor i in range(0, len(b), 4096): b[i] = 1\n"
             "time.sleep(0.3)\nopen('%s', 'w').close()" % mark)
    result = measure(*ONCE, '--', 'setsid', 'sh', '-c', '"$0" -c "$1" & exit 0', sys.executable,
                     child)
    row = rows(result)[0]
    assert os.path.exists(mark), 'not waited for'
    assert row['elapsed'] >= 0.3
    assert row['vmstat.pgfault'] > 0
    alone = rows(measure(*ONCE, '--', sys.executable, '-c', 'pass'))[0]
    assert row['faults'] > alone['faults'] + (8 if thp_may_be_used() else 4000)


def thp_may_be_used():
    try:
        with open('/sys/kernel/mm/transparent_hugepage/enabled', encoding='utf-8') as file:
            return '[always]' in file.read()
    except OSError:
        return False


def test_results_of_two_commands_are_not_compared():
    for name, command in (('a', ('true',)), ('b', ('sh', '-c', ':'))):
        lib.expect(0, 'measure', '--quiet', '-o', path(name), '--', *command)
    assert load(path('a'))['provenance']['trace_id'] != load(path('b'))['provenance']['trace_id']
    lib.expect(3, 'diff', path('a'), path('b'))
    same = measure('--', 'true')
    assert same['provenance']['trace_id'] == load(path('a'))['provenance']['trace_id']


def test_result_does_not_hold_the_command_line():
    measure(*ONCE, '--', 'echo', 'a-secret-word')
    with open(path('result.json'), encoding='utf-8') as file:
        assert 'a-secret-word' not in file.read()


def test_append_numbers_boots():
    out = path('boots.json')
    for _ in range(2):
        lib.expect(0, 'measure', '--quiet', '--repeat=2', '--append', out, '--', 'true')
    assert [(row['boot'], row['round']) for row in load(out)['repetitions']] == [
        (0, 0), (0, 1), (1, 0), (1, 1)]


def test_append_of_another_command_leaves_the_file():
    out = path('other.json')
    lib.expect(0, 'measure', '--quiet', *ONCE, '--append', out, '--', 'true')
    before = lib.load(out)
    done = lib.expect(125, 'measure', '--quiet', *ONCE, '--append', out, '--', 'sh', '-c', ':')
    assert 'the trace' in done.stderr, done.stderr
    assert lib.load(out) == before
    beside = [name for name in os.listdir(folder.name) if name.startswith('other.json.')]
    assert len(beside) == 1 and load(path(beside[0]))['repetitions'], beside


def test_append_to_what_is_no_result_is_said_before_the_work():
    out = lib.store(folder.name, 'broken.json', b'{"schema": "mmtape-res')
    done = lib.expect(125, 'measure', '--append', out, '--', 'touch', path('ran'))
    assert out in done.stderr and not os.path.exists(path('ran'))


def test_signals_end_all_and_write_nothing():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        out, pids = path('stopped.json'), path(f'pids{number}')
        # A shell's background jobs ignore SIGINT; sleep, below, has left the session.
        script = f'setsid sleep 1000 & echo $! >> {pids}; echo $$ >> {pids}; wait'
        with lib.Running([lib.MMTAPE, 'measure', '-o', out, '--', 'sh', '-c', script],
                         stderr=subprocess.PIPE, text=True) as run:
            lib.wait_for('the command', lambda p=pids: os.path.exists(p) and len(lib.load(p).split()) == 2)
            run.send_signal(number)
            said = run.communicate(timeout=60)[1]
        assert run.returncode == 125 and 'stopped by a signal' in said, (run.returncode, said)
        assert not os.path.exists(out)
        for pid in lib.load(pids).split():
            assert lib.is_gone(int(pid)), f'{int(pid)} lives on'


def test_interrupt_of_a_terminal_reaches_all_and_is_no_repetition():
    """The command ends by it at once, as its last repetition would."""
    out, mark = path('interrupted.json'), path('interrupted')
    with lib.Running([lib.MMTAPE, 'measure', *ONCE, '-o', out, '--', sys.executable, '-c',
                      f"open({mark!r}, 'w').close()\nimport time\ntime.sleep(1000)"],
                     stderr=subprocess.PIPE, text=True, start_new_session=True) as run:
        lib.wait_for('the command', lambda: os.path.exists(mark))
        os.killpg(run.pid, signal.SIGINT)
        said = run.communicate(timeout=60)[1]
    assert run.returncode == 125 and 'stopped by a signal' in said, (run.returncode, said)
    assert not os.path.exists(out)


def test_lock_sources():
    done = lib.mmtape('measure', '--quiet', '--force', '--no-time', '--warmup=0', '--repeat=2',
                      '--sources=contention', '-o', path('locks.json'), '--', 'true')
    if done.returncode == 125 and '--sources' in done.stderr:
        raise lib.Skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    result = load(path('locks.json'))
    assert len(rows(result, 'contention')) == 2 and not rows(result)
    assert 'lock.lru.wait' in rows(result, 'contention')[0]
    assert 'together' not in result['provenance']['options']


def test_sources_together():
    mark, out = path('runs'), path('together.json')
    done = lib.mmtape('measure', '--quiet', '--force', '--no-time', '--warmup=0', '--repeat=2',
                      '--sources=contention,profile', '--together', '-o', out, '--',
                      sys.executable, '-c', f"open({mark!r}, 'a').write('run ')")
    if done.returncode == 125 and '--sources' in done.stderr:
        raise lib.Skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    result = load(out)
    assert lib.load(mark) == b'run run ', lib.load(mark)
    assert len(rows(result, 'contention')) == len(rows(result, 'profile')) == 2
    assert result['provenance']['options']['together'] is True


lib.main(globals())
