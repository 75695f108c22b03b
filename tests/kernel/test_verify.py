# SPDX-License-Identifier: GPL-2.0-or-later
"""verify: every sample is equal to its replay; every kind of mutant is found and named."""
import json
import os
import subprocess
import tempfile

import lib

MUTATE = os.path.join(os.path.dirname(lib.PROGRAMS), 'tools', 'mutate')


def verify(*args, status=0):
    done = lib.mmtape('verify', '--format', 'json', *args, timeout=300)
    assert done.returncode == status, (args, done.returncode, done.stdout[-3000:], done.stderr)
    return json.loads(done.stdout)


def every_sample(*options):
    lib.need_tracefs()
    for path in lib.samples():
        report = verify(*options, path)
        assert report['equal'] and report['operations'] > 0, (path, report)
        assert report['faults']['compared'] and report['faults']['recorded'] > 0, (path, report)
        print('  ', os.path.basename(path), *options, report['operations'], 'operations,',
              report['faults'])


def test_samples_traced_deps():
    every_sample('--place', 'traced', '--order', 'deps')


def test_samples_traced_serial():
    every_sample('--place', 'traced', '--order', 'serial')


def test_samples_kernel_deps():
    every_sample('--place', 'kernel', '--order', 'deps')


def test_samples_kernel_serial():
    every_sample('--place', 'kernel', '--order', 'serial')


def mutant(how, call, number, named):
    """The sample's replay is not what the mutant recorded, and verify says where."""
    lib.need_tracefs()
    path = lib.sample('handover')
    with tempfile.TemporaryDirectory() as scratch:
        changed = os.path.join(scratch, 'mutant.mmt.zst')
        subprocess.run([MUTATE, how, call, str(number), path, changed], check=True)
        lib.expect(0, 'check', changed)
        result = os.path.join(scratch, 'r.json')
        report = verify(changed, '--', lib.MMTAPE, 'replay', '--quiet', '--marks', '--repeat=1',
                        '--warmup=0', '--no-latency', '-o', result, path, status=1)
    assert not report['equal'] and report['difference_count'] >= 1, report
    shown = report['differences'][0]
    assert shown['operation'] >= 1 and named in shown['recorded'] + shown['replayed'], report


def test_dropped_munmap():
    mutant('drop', 'munmap', 5, 'munmap')


def test_dropped_madvise():
    mutant('drop', 'madvise', 3, 'madvise')


def test_lengthened_mprotect():
    mutant('lengthen', 'mprotect', 6, 'mprotect')


def test_reflagged_mmap():
    mutant('reflag', 'mmap', 9, 'mmap')


def test_reflagged_madvise():
    mutant('reflag', 'madvise', 2, 'madvise')


def test_swapped_mmaps():
    mutant('swap', 'mmap', 4, 'mmap')


def test_program_is_compared_with_its_trace():
    lib.need_tracefs()
    with tempfile.TemporaryDirectory() as scratch:
        trace = os.path.join(scratch, 't.mmt.zst')
        program = [lib.program('pagefault1'), '--size=4M', '--iterations=3']
        lib.expect(0, 'capture', '--quiet', '-o', trace, '--', *program)
        report = verify(trace, '--', *program)
        assert report['equal'], report
        report = verify(trace, '--', program[0], '--size=8M', '--iterations=3', status=1)
        assert any('mmap' in d['recorded'] for d in report['differences']), report


def test_not_a_trace_is_one_line():
    done = lib.expect(1, 'verify', os.path.abspath(__file__))
    assert done.stderr.count('\n') == 1 and 'test_verify.py' in done.stderr, done.stderr


lib.main(globals())
