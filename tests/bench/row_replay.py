# SPDX-License-Identifier: GPL-2.0-or-later
"""Replay of recorded native loops, against the loops themselves; and what their plans take."""
import json
import os

from harness import Failed, Line, Skip, last_cpu, lower_bound, median, need_capture, spread

ASKED = 0.97
ASKED_BOUND = 0.95
ASKED_PLAN = 32
PAIRS = 15
OPERATIONS = 1_000_000

# Rounds of each load for a second or two, with at least OPERATIONS operations; whether it has one thread.
LOADS = {
    'faults': (31, True),
    'storm': (1000, True),
    'small': (510000, True),
    'handover': (60000, False),
}


def rounds(bench, load):
    full = LOADS[load][0]
    return bench.pick(full, max(full // 5, 2), max(full // 200, 1))


def native_command(bench, load):
    return [bench.tool('bench/native'), load, str(rounds(bench, load))]


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
    """(wall, CPU) seconds of the one repetition."""
    metrics = next(r['metrics'] for r in result['repetitions'] if r['pass'] == 'time')
    return metrics['elapsed'], metrics['user'] + metrics['system']


def mirrored(native, ours, pairs):
    """
    Pairs of sums over two runs of each, in the order native, ours, ours, native: what
    drifts evenly while a pair is made falls on both sides alike.
    """
    found = []
    for _ in range(pairs):
        first, mine, again, last = native(), ours(), ours(), native()
        found.append(({key: first[key] + last[key] for key in first},
                      tuple(a + b for a, b in zip(mine, again))))
    return found


def measure_load(bench, load):
    need_capture()
    single = LOADS[load][1]
    if not single and os.cpu_count() < 2:
        raise Skip('needs two CPUs')
    cpus = last_cpu() if single else os.sched_getaffinity(0)
    trace = recorded(bench, load)
    mismatches = 0

    def native():
        return json.loads(bench.run(*native_command(bench, load), cpus=cpus))

    def ours():
        nonlocal mismatches
        result = replay(bench, trace, cpus)
        mismatches += result['fidelity']['mismatches']
        return figures(result)

    native(), ours()
    pairs = mirrored(native, ours, bench.pick(PAIRS, 7, 1))
    operations = pairs[0][0]['operations']
    if bench.scale == 'full' and operations < 2 * OPERATIONS:
        raise Failed(f'{load}: only {operations // 2} operations a run')
    ratios = [mine['ns'] / 1e9 / wall for mine, (wall, _) in pairs]
    cpu = median([mine['cpu_ns'] / 1e9 / cpu for mine, (_, cpu) in pairs])
    bound = lower_bound(ratios)
    ok = median(ratios) >= ASKED and bound is not None and bound >= ASKED_BOUND and not mismatches
    notes = [
        f'{operations} operations in two runs, native {median([n["ns"] for n, _ in pairs]) / operations:.0f} ns each, '
        f'replay {median([wall for _, (wall, _) in pairs]) / operations * 1e9:.0f}; {mismatches} mismatches',
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
