# SPDX-License-Identifier: GPL-2.0-or-later
"""Asked against measured: what is asked of a case, held against the results that are there."""
import collections
import functools

import figures
from cases import AGREE_WITHIN, UNRESOLVED_PERCENT, UNSWEPT, Agree, Unresolved
from loads import LOADS

HOLDS, FAILS, UNASKED, MISSING = 'holds', 'does not hold', 'not asked', 'not measured'

# values: one for each kernel, or each source; None where there is none.
Cell = collections.namedtuple('Cell', 'order values state verdict')
Line = collections.namedtuple('Line', 'what kernels asked cells state note')


class Data:
    """Results that are there, read once."""

    def __init__(self, lab):
        self.lab = lab
        self.rows = functools.lru_cache(None)(self._rows)
        self.compare = functools.lru_cache(None)(self._compare)

    def paths(self, load, kernel):
        return self.lab.results(LOADS[load], kernel)

    def _rows(self, load, kernel):
        return figures.load_rows(self.paths(load, kernel))

    def _compare(self, load, kernels):
        """figures.compare(), or nothing and why not."""
        sides = [self.paths(load, kernel) for kernel in kernels]
        if not all(sides):
            return {}, ['not run']
        try:
            return figures.compare(*sides)
        except figures.Unusable as why:
            return {}, [str(why)]

    def mean(self, load, kernel, source, metric, order=None):
        return figures.mean(self.rows(load, kernel), source, metric, order)


def cell(ask, order, data):
    values = [data.mean(ask.load, kernel, ask.source, ask.metric, order) for kernel in ask.kernels]
    if None in values:
        return Cell(order, values, MISSING, None)
    values = [value / ask.per for value in values]
    state = {True: HOLDS, False: FAILS, None: UNASKED}[ask.holds(*values)]
    pair = data.compare(ask.load, ask.kernels)[0].get((ask.metric, order)) if len(values) > 1 else None
    # diff takes a measure from the first pass that has it, which may be another one.
    said = pair and pair.source == ask.source and pair.verdict != 'none'
    return Cell(order, values, state, pair.verdict if said else None)


def agreement(ask, order, data):
    """The acquisitions that lock_stat and entries count."""
    one = data.mean(ask.load, ask.kernel, 'lock_stat', f'lock.{ask.lock}.acquisitions', order)
    others = [data.mean(ask.load, ask.kernel, 'entries', f'lock.{role}.acquisitions', order)
              for role in ask.roles]
    if one is None or None in others:
        return Cell(order, [one, None], MISSING, None)
    close = abs(sum(others) - one) <= AGREE_WITHIN * one
    return Cell(order, [one, sum(others)], HOLDS if close else FAILS, None)


def unresolved(ask, order, data):
    name = f'lock.unresolved.share_of_{ask.source}'
    values = [data.mean(ask.load, kernel, ask.source, name, order) for kernel in ask.kernels]
    if None in values:
        return Cell(order, values, MISSING, None)
    values = [value * 100 for value in values]
    return Cell(order, values, HOLDS if max(values) <= UNRESOLVED_PERCENT else FAILS, None)


def evaluate(ask, data):
    if isinstance(ask, Agree):
        what, asked = f'{ask.lock}: {ask.load}', f'within {AGREE_WITHIN:.0%}'
        kernels, orders, measure = (ask.kernel,), ask.orders, agreement
    elif isinstance(ask, Unresolved):
        what, asked = f'unresolved by {ask.source}, %: {ask.load}', f'at most {UNRESOLVED_PERCENT}'
        kernels, measure = ask.kernels, unresolved
        orders = figures.orders(data.rows(ask.load, kernels[0])) or UNSWEPT
    else:
        what, asked, kernels, orders, measure = ask.what, ask.asked, ask.kernels, ask.orders, cell
    cells = [measure(ask, order, data) for order in orders]
    states = {c.state for c in cells}
    state = next((s for s in (FAILS, MISSING, HOLDS) if s in states), UNASKED)
    missing = [kernel for kernel in kernels if not data.paths(ask.load, kernel)]
    note = f"not run on {', '.join(missing)}" if missing else None
    return Line(what, kernels, asked, cells, state, note)


def cell_text(c):
    if all(value is None for value in c.values):
        return '-'
    return ' → '.join(map(figures.text, c.values))


def measured(line):
    """All cells of a line in words."""
    if line.note:
        return line.note
    return '; '.join((f'order {c.order}: ' if c.order is not None else '') + cell_text(c)
                     + ('' if c.state in (HOLDS, UNASKED) else f' ({c.state})') for c in line.cells)


def verdicts(line):
    """What diff says, where it says something."""
    return ', '.join(sorted({c.verdict for c in line.cells if c.verdict})) or '-'
