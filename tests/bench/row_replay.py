# SPDX-License-Identifier: GPL-2.0-or-later
"""Replay of recorded native loops, against the loops themselves; and what their plans take."""
import collections
import json
import os

from harness import Failed, Line, Skip, last_cpu, lower_bound, median, need_capture, spread

ASKED = 0.97
ASKED_BOUND = 0.95
ASKED_PLAN = 32
PAIRS = 15
OPERATIONS = 2_000_000 # of each side in a pair

# Runs of each side in a pair: short ones in close turns, since what else a shared machine does
# changes from one second to the next.
RUNS = 8
# Rounds of each load in a run of half a second; whether it has one thread.
LOADS = {
    'faults': (8, True),
    'storm': (250, True),
    'small': (127500, True),
    'handover': (15000, False),
}


def rounds(bench, load):
    full = LOADS[load][0]
    return bench.pick(full, full, max(full // 50, 1))


def native_command(bench, load, *options):
    return [bench.tool('bench/native'), *options, load, str(rounds(bench, load))]


def recorded(bench, load):
    """The trace of a native loop, made once."""
    def make():
        trace = bench.path(load + '.mmt.zst')
        bench.capture(trace, *native_command(bench, load))
        return trace
    return bench.once('trace ' + load, make)


def replay(bench, trace, cpus=None):
    """The result of one repetition in traced placement and deps order."""
    out = bench.path('result.json')
    bench.run(bench.mmtape, 'replay', '--quiet', '--place', 'traced', '--order', 'deps', '--repeat',
              '1', '--warmup', '0', '--no-latency', '--force', '-o', out, trace, cpus=cpus)
    with open(out, encoding='utf-8') as f:
        return json.load(f)


def figures(result):
    """Time of the one repetition, as the native loop prints it."""
    metrics = next(r['metrics'] for r in result['repetitions'] if r['pass'] == 'time')
    return {'ns': metrics['elapsed'] * 1e9, 'cpu_ns': (metrics['user'] + metrics['system']) * 1e9}


def turns(runs):
    """Sides in the order native, ours, ours, native, and then from the other end: what drifts falls on both alike."""
    return [(i % 4 in (0, 3)) == (i % 8 < 4) for i in range(2 * runs)]


def take_turns(native, ours, runs):
    """One pair: what the runs of each side measured, added up."""
    sums = {True: collections.Counter(), False: collections.Counter()}
    for is_native in turns(runs):
        sums[is_native].update((native if is_native else ours)())
    return sums[True], sums[False]


def measure_load(bench, load):
    need_capture()
    single = LOADS[load][1]
    if not single and os.cpu_count() < 2:
        raise Skip('needs two CPUs')
    cpus = last_cpu() if single else os.sched_getaffinity(0)
    trace = recorded(bench, load)
    mismatches = 0

    def native():
        return json.loads(bench.run(*native_command(bench, load, '--timed'), cpus=cpus))

    def ours():
        nonlocal mismatches
        result = replay(bench, trace, cpus)
        mismatches += result['fidelity']['mismatches']
        return figures(result)

    native(), ours()
    pairs = [take_turns(native, ours, bench.pick(RUNS, 2, 1)) for _ in range(bench.pick(PAIRS, 7, 1))]
    operations = pairs[0][0]['operations']
    if bench.scale == 'full' and operations < OPERATIONS:
        raise Failed(f'{load}: only {operations} operations of a side in a pair')
    ratios = [native_side['ns'] / replayed['ns'] for native_side, replayed in pairs]
    cpu = median([native_side['cpu_ns'] / replayed['cpu_ns'] for native_side, replayed in pairs])
    bound = lower_bound(ratios)
    ok = median(ratios) >= ASKED and bound is not None and bound >= ASKED_BOUND and not mismatches
    each = [median([side[number]['ns'] for side in pairs]) / operations for number in (0, 1)]
    notes = [
        f'{operations} operations a side in a pair, native {each[0]:.0f} ns each, replay {each[1]:.0f}; '
        f'{mismatches} mismatches',
        f'{len(pairs)} pairs, ratios {spread(ratios)}; ratio of CPU time {cpu:.3f}']
    return [Line(f'replay, rate against native: {load}', f'>= {ASKED}, 95% bound >= {ASKED_BOUND}',
                 f"{median(ratios):.3f}, bound {'-' if bound is None else f'{bound:.3f}'}", ok, notes)]


def plan_line(bench, name, trace):
    """Of calls and touches, as the native loops count them; a run of touches is one entry of a plan."""
    fidelity = replay(bench, trace)['fidelity']
    operations = sum(fidelity['plan']['calls'].values()) + fidelity['touches']
    each = fidelity['plan_bytes'] / operations
    return Line(f'plan, bytes per operation: {name}', f'<= {ASKED_PLAN}', f'{each:.1f}',
                each <= ASKED_PLAN,
                [f"{fidelity['plan_bytes']} bytes, {operations} calls and touches in "
                 f"{fidelity['operations']} entries"])


def measure_plans(bench):
    need_capture()
    lines = [plan_line(bench, load, recorded(bench, load)) for load in LOADS]
    try:
        command = bench.link_command()
    except Skip as why:
        return lines + [Line('plan, bytes per operation: ld.lld', f'<= {ASKED_PLAN}', '-', None,
                             [f'not measured: {why}'])]
    trace = bench.path('link-plan.mmt.zst')
    bench.capture(trace, *command)
    return lines + [plan_line(bench, 'ld.lld', trace)]
