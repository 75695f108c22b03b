# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes docs/cases.md from the results that are there."""
import collections

import chance
import evaluate
import figures
import lab
import tables
from cases import CASES, asks_of
from loads import LOADS

HEAD = '''# The cases, before and after

Made by `tests/cases/run --write-doc` from results of the lab; not edited by hand. Each case compares test kernels that
differ by one edit (docs/kernels.md builds them) under the replay of a sample of traces/samples, with four virtual CPUs. To run one
again, with QEMU and the kernels of docs/kernels.md in a folder:

    tests/cases/run --case S2 --kernels FOLDER              # one boot of each kernel
    tests/cases/run --resume --write-doc --kernels FOLDER   # all, and this page; goes on where it ended

Asked is what the project set out to show. Under each command stands how many boots there are where a verdict would take
more; figures of a single boot say little of what varies. A verdict is what `mmtape diff` says of the same figures (docs/metrics.md); it
takes five boots a side. `-` says that diff gives none, or that the column does not apply.
'''


def machine(data):
    """What it ran on, from the results themselves."""
    found = collections.OrderedDict()
    for name, load in LOADS.items():
        for case in CASES.values():
            for run in case.runs:
                for kernel in run.kernels if run.load == name else ():
                    paths = data.paths(load.name, kernel)
                    if paths:
                        found[kernel] = figures.provenance(paths[0])
    lines = []
    for p in list(found.values())[:1]:
        virtual = p.get('lab') or {}
        emulated = 'emulated' if virtual.get('emulated') else 'with KVM'
        lines += ['', f"Ran {emulated}: {virtual.get('virtual_cpus', p.get('cpus'))} virtual CPUs on "
                  f"{virtual.get('real_cpus', '?')} real ones, {p.get('spinlock')} spinlocks, mmtape "
                  f"{p.get('mmtape')}. Kernels: "
                  + ', '.join(f"{name} ({q.get('kernel')})" for name, q in sorted(found.items()))
                  + '.']
    return lines


def commands(case, data):
    lines = []
    for run in case.runs:
        boots = {kernel: len(data.paths(run.load, kernel)) for kernel in run.kernels}
        lines.append('    ' + lab.shown(LOADS[run.load], run.kernels, max(*boots.values(), 0) or run.boots))
        for kernel, number in boots.items():
            if not number:
                lines.append(f'    # not run: {kernel}')
            elif number < run.boots:
                lines.append(f'    # {kernel}: {number} boots, {run.boots} wanted')
    return lines


def asked_table(lines):
    """Asked against measured; a column for each order where sizes were swept."""
    orders = sorted({c.order for line in lines for c in line.cells if c.order is not None})
    head = ['what', 'kernels', 'asked', *(f'order {order}' for order in orders or ['-'])]
    rows = []
    for line in lines:
        cells = {c.order: evaluate.cell_text(c) for c in line.cells}
        rows.append([line.what, ' → '.join(line.kernels), line.asked,
                     *(cells.get(order, '') for order in orders or [None]),
                     evaluate.verdicts(line), line.note or line.state])
    if not orders:
        head[-1] = 'measured'
    return tables.table([*head, 'diff says', 'asked and measured'], rows)


def section(case, data):
    lines = ['', f'## {case.name}: {case.title}', '', case.seen, '', *commands(case, data)]
    asked = [evaluate.evaluate(ask, data) for ask in asks_of(case)]
    swept = [line for line in asked if line.cells[0].order is not None]
    for part in swept, [line for line in asked if line not in swept]:
        if part:
            lines += ['', *asked_table(part)]
    for extra in case.extras:
        lines += ['', *tables.TABLES[extra](data)]
    return [*lines, '', case.says]


def chances(out):
    lines = ['', '## How often diff errs', '',
             'null: the boots of one kernel are split at random, five to five, in 100 ways; at most 5 splits may have a '
             'finding in a primary metric. power: one measure of one side is made 5% larger in 100 trials with ten boots a '
             'side; at least 80 have to find it. `tests/cases/null.py` does both.', '']
    rows = chance.rows(out)
    return lines + (tables.table(['', 'load', 'kernel', 'boots', 'asked', 'measured', ''], rows)
                    if rows else tables.NOT_RUN)


def write(path, data):
    lines = [HEAD.rstrip('\n'), *machine(data)]
    for case in CASES.values():
        lines += section(case, data)
    lines += chances(data.lab.out)
    with open(path, 'w', encoding='utf-8') as f:
        f.write('\n'.join(lines) + '\n')
