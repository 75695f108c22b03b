# SPDX-License-Identifier: GPL-2.0-or-later
"""The order of replays: hundreds show no mismatch, and each rule is needed."""
import json
import os
import tempfile

import lib

RULES = ['use-after-map', 'unmap-after-use', 'map-after-unmap', 'fault-before-unmap', 'protect',
         'contents', 'fork']
# MMTAPE_ORDER_TIMES=1000 makes it the thousand that a release is to pass, in some minutes.
TIMES = int(os.environ.get('MMTAPE_ORDER_TIMES', '100'))


def replay(path, *options, status=(0,)):
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, 'r.json')
        done = lib.mmtape('replay', '--quiet', '-o', out, *options, path, timeout=900)
        assert done.returncode in status, (done.returncode, done.stderr)
        with open(out, encoding='utf-8') as file:
            return json.load(file)


def test_many_replays_without_mismatch():
    lib.need_root()
    result = replay(lib.sample('handover'), '--repeat', TIMES, '--warmup', 0, '--pin', '0,1')
    fidelity = result['fidelity']
    assert fidelity['mismatches'] == 0, fidelity
    timed = [row for row in result['repetitions'] if row['pass'] == 'time']
    assert len(timed) == TIMES, len(timed)
    recorded, replayed = fidelity['peak_calls_recorded'], fidelity['peak_calls_replayed']
    print('   calls in flight at once:', recorded, 'recorded,', replayed, 'replayed')
    assert replayed >= 0.9 * recorded, fidelity


def rule_is_needed(rule):
    lib.need_root()
    result = replay(lib.sample('handover'), '--repeat', 5, '--warmup', 0, '--no-latency',
                    '--drop-rule', rule, status=(0, 3))
    print('  ', rule, result['fidelity']['mismatches'], 'mismatches')
    assert result['fidelity']['mismatches'] > 0, rule


def add_rule_tests():
    for rule in RULES:
        globals()['test_without_' + rule.replace('-', '_')] = lambda rule=rule: rule_is_needed(rule)


add_rule_tests()


def test_one_child_after_the_other():
    """A shell script's children ran one at a time: so they do in the replay."""
    lib.need_root()
    fidelity = replay(lib.sample('forks'), '--repeat', 3)['fidelity']
    assert fidelity['mismatches'] == 0, fidelity


lib.main(globals())
