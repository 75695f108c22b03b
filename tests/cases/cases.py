# SPDX-License-Identifier: GPL-2.0-or-later
"""The cases: which loads on which kernels, what is asked of the figures, and what was seen originally."""
import collections

from loads import LATENCY, LOADS

# Boots of some kernels with one load.
Run = collections.namedtuple('Run', 'load kernels boots')

# One figure of one or two kernels, from the pass of one source, for each order (None: not swept), divided
# by per. holds takes a value of each kernel; None from it: nothing is asked of these.
Ask = collections.namedtuple('Ask', 'what load kernels source metric orders asked holds per',
                             defaults=(1,))

# What two sources count of the same lock, within this part; the second one by several roles.
Agree = collections.namedtuple('Agree', 'load kernel lock roles orders')
AGREE_WITHIN = 0.01

# What matched no role, in percent of all that a source saw. Asked of every load that observes locks.
Unresolved = collections.namedtuple('Unresolved', 'load kernels source')
UNRESOLVED_PERCENT = 2

# extras: names of tables of tables.py.
Case = collections.namedtuple('Case', 'name title seen runs asks extras says')

FREED = 'lock.deferred-split.acquisitions_per_folio'
QUEUE = 'lock.deferred-split.acquisitions'
CUTS = 'vmstat.thp_deferred_split_page'
RANGES = 32
STACK_CALLS = 17
UNSWEPT = (None,)


def near(value, wanted, part=0.05):
    return abs(value - wanted) <= max(part * wanted, 0.005)


def falls_to(wanted, most):
    """From about wanted to at most that."""
    return lambda a, b: near(a, wanted, 0.15) and b <= most


def both(first, second, part=0.02):
    return lambda a, b: near(a, first, part) and near(b, second, part)


def unchanged(a, b):
    return near(b, a)


def tenfold(a, b):
    return b <= a / 10 if a > 1000 else None


LRU = (
    Ask('lru, acquisitions per folio', 'pagefault1-orders', ('6.12-stock', '6.12-lru-batch'),
        'lock_stat', 'lock.lru.acquisitions_per_folio', (2, 3, 4), 'about 1.0 → at most 0.1',
        falls_to(1, 0.1)),
    Ask('lru, acquisitions per folio', 'pagefault1-orders', ('6.12-stock', '6.12-lru-batch'),
        'lock_stat', 'lock.lru.acquisitions_per_folio', (5, 9), 'unchanged', unchanged),
    # No source is named in what is asked, and they count different things: both are held against it.
    *(Ask(f'lru, contentions by {source}', 'pagefault1-orders', ('6.12-stock', '6.12-lru-batch'),
          source, 'lock.lru.contentions', (2, 3, 4), 'at most a tenth where above 1,000', tenfold)
      for source in ('lock_stat', 'contention')),
)

FREE = (
    Ask('deferred-split, acquisitions per freed folio', 'pagefault1-free',
        ('6.12-free-locks', '6.12-stock'), 'lock_stat', FREED, (2, 3, 4, 5, 6, 7, 8), '2.0 → 0.0',
        both(2, 0)),
    Ask('deferred-split, acquisitions per freed huge page', 'pagefault1-2m',
        ('6.1-stock', '6.1-free-looks'), 'lock_stat', FREED, UNSWEPT, '1.0 → 0.0', both(1, 0)),
    Ask('deferred-split, free side, acquisitions per freed huge page', 'pagefault1-2m',
        ('6.1-stock', '6.1-free-looks'), 'entries',
        'lock.deferred-split.free.acquisitions_per_folio', UNSWEPT, '1.0 → 0.0', both(1, 0)),
)


def sides(role):
    return Ask(f'{role}, acquisitions per folio', 'pagefault1-sides',
               ('6.12-stock', '6.12-lru-batch'), 'entries', f'lock.{role}.acquisitions_per_folio',
               (2, 3, 4, 5, 9), 'counted apart', lambda a, b: a > 0 and b > 0)


def storm(what, kernels, metric, asked, holds, per=1, load='storm', source='entries'):
    return Ask(what, load, kernels, source, metric, UNSWEPT, asked, holds, per)


def cut_counts(load, kernels, end):
    """What the unmap path does for each huge page that is cut; end: what removes its rest."""
    unmap = 'lock.deferred-split.unmap'
    return (
        storm('acquisitions per cut, by madvise', kernels,
              f'{unmap}.madvise.acquisitions_per_cut', '507 → 1', both(507, 1), load=load),
        storm(f'acquisitions per cut, for its rest, by {end}', kernels,
              f'{unmap}.{end}.acquisitions_per_cut', '5 → 0', both(5, 0), load=load),
        storm('acquisitions on free, per huge page', kernels,
              'lock.deferred-split.free.acquisitions_per_folio', '1 → 1', both(1, 1), load=load),
    )


OLD = ('6.1-unmap-locks', '6.1-stock')
LOOKS = ('6.1-stock', '6.1-free-looks')
STORM = (
    *cut_counts('storm', OLD, 'munmap'),
    storm('acquisitions per range, in all', OLD, QUEUE, '516 → 5', both(516, 5), RANGES,
          source='lock_stat'),
    storm('acquisitions per range, in all, free-looks', LOOKS, QUEUE, '5 → 2', both(5, 2), RANGES,
          source='lock_stat'),
    storm('huge pages cut', OLD, CUTS, f'{RANGES} → {RANGES}', both(RANGES, RANGES), source='time'),
    storm('0x600000 bytes: huge pages cut', OLD, CUTS, '0 → 0', both(0, 0), load='storm-whole',
          source='time'),
    storm('0x600000 bytes: acquisitions per range', OLD, QUEUE, '4 → 4', both(4, 4), RANGES,
          'storm-whole', 'lock_stat'),
    storm('0x600000 bytes: acquisitions per range, free-looks', LOOKS, QUEUE, '4 → 0', both(4, 0),
          RANGES, 'storm-whole', 'lock_stat'),
    storm('ld.lld: huge pages cut', OLD, CUTS, f'{STACK_CALLS} → {STACK_CALLS}, the calls of the trace',
          both(STACK_CALLS, STACK_CALLS), load='ld.lld', source='time'),
    *(ask._replace(what='ld.lld: ' + ask.what) for ask in cut_counts('ld.lld', OLD, 'exit')),
)


def packaged(what, load, kernel, metric, asked, wanted, orders=UNSWEPT, per=1, part=0.02):
    return Ask(what, load, (kernel,), 'entries', metric, orders, asked,
               lambda value: near(value, wanted, part), per)


DEBIAN = (
    packaged('deferred-split, acquisitions per cut, by madvise', 'storm-entries', 'debian-6.1',
             'lock.deferred-split.unmap.madvise.acquisitions_per_cut', '1', 1),
    packaged('deferred-split, acquisitions on free, per huge page', 'storm-entries', 'debian-6.1',
             'lock.deferred-split.free.acquisitions_per_folio', '1', 1),
    packaged('deferred-split, acquisitions per range, in all', 'storm-entries', 'debian-6.1', QUEUE,
             '5', 5, per=RANGES),
    packaged('lru, acquisitions per folio', 'pagefault1-entries', 'debian-6.12',
             'lock.lru.acquisitions_per_folio', 'about 1.0', 1, (2, 4), part=0.15),
    packaged('deferred-split, acquisitions per freed folio', 'pagefault1-entries', 'debian-6.12',
             FREED, '0.0', 0, (2, 4)),
)


def agree(load, kernel, orders=UNSWEPT):
    return tuple(Agree(load, kernel, lock, roles, orders) for lock, roles in (
        ('lru', ('lru',)), ('zone', ('zone-alloc', 'zone-free')),
        ('deferred-split', ('deferred-split',))))


ALL_612 = ('6.12-stock', '6.12-lru-batch')
TIMES = ('6.1-unmap-locks-plain', '6.1-stock-plain')
CASES = {case.name: case for case in (
    Case('S2', 'LRU lock: one folio at a time, or in batches',
         'Seen: page_fault1 of will-it-scale, order 2, 96 processes: 64.31% of CPU time waiting for the LRU lock; 42.67% '
         'with page-counted batches; 21.55% and 19.94% with simpler batching. Order 4: 24.24% → 2.20%. Order 5: 8.21%.',
         (Run('pagefault1-orders', ALL_612, 10),), LRU, ('orders',),
         'Acquisitions are the same on any machine, so their change is what a large one would see. Contentions are not: '
         'four virtual CPUs share fewer real ones, so some wait for a holder that is not running, and they vary '
         'several-fold from boot to boot, the more the shorter the turns that virtual CPUs get. At order 2 a batch held the '
         'lock ten times as long as a single folio did; a twentieth of the acquisitions met a holder on both kernels. '
         'lock_stat counts each try that found the lock taken, `contention` the waiters that queued. Shares of CPU time '
         'as in the original need its 96 CPUs.'),
    Case('S1', 'Deferred-split queue: the free path looks before it locks',
         'Seen: page_fault1, order-2 anonymous folios, 96 processes, 48 cores: 61 to 63% of CPU time spinning in the '
         'queue lock on free; under 1% once the free path looks before it locks.',
         (Run('pagefault1-free', ('6.12-free-locks', '6.12-stock'), 5),
          Run('pagefault1-2m', LOOKS, 5)), FREE, (),
         'Two acquisitions for each folio that need none: that is exact. What they cost with 96 CPUs on one queue does not '
         'show here.'),
    Case('S4', 'The madvise storm of a threaded linker',
         'Seen: building a kernel with ld.lld; `madvise(0x7fb000, MADV_DONTNEED)` on thread stacks that had become huge '
         'pages. Real/user/sys: 6:07.99/26367/5063 s, regressed 7:22.15/26235/12504 s, fixed 6:08.49/26520/5047 s.',
         (Run('storm', (*OLD, '6.1-free-looks'), 5), Run('storm-whole', (*OLD, '6.1-free-looks'), 5),
          Run('ld.lld', OLD, 5), Run('storm-time', TIMES, 5),
          Run('storm-time-whole', TIMES[:1], 5)), STORM, ('times',),
         'The counts are those of the code and hold on any machine. The times are those of four virtual CPUs in '
         'emulation, where filling the ranges takes longer than cutting them and few wait for the lock: they cannot '
         'show what hundreds of queueing CPUs paid in the original. The time of one madvise is nearest to it.'),
    Case('S3', 'Zone lock: where the contention went',
         'Seen: page_fault1, two-socket Skylake: about 80% of CPU time in the zone lock (42% allocation, 35% free); '
         'skipping merges on free brought 1.1% there, and the LRU lock rose from 5% to 37%.',
         (Run('pagefault1-sides', ALL_612, 5), Run('pagefault1-orders', ALL_612, 10)),
         tuple(map(sides, ('zone-alloc', 'zone-free'))), ('shares',),
         'Parts of the acquisitions hold on any machine. Who waits follows from how virtual CPUs were scheduled, so parts of '
         'the contentions are shown without verdict, and a part that grows is one of a total that shrank: it need not '
         'mean more waiting. Whether contention moves to the zone lock in absolute numbers, as it did in the original, '
         'is in the brackets of the table of S2, boot by boot too different to say.'),
    Case('profile', 'Share of CPU time by role',
         'The form in which S1 to S3 were seen: percent of samples by lock.',
         (Run('pagefault1-profile', ('6.12-stock-plain', '6.12-lru-batch-plain'), 5),), (),
         ('profile',),
         'Emulated CPUs have no hardware counter: the clock is a timer that cannot fire while interrupts are off, so time '
         'lands where they come back on. Shown without verdict.'),
    Case('S5', 'Reclaim: every counter over five runs',
         'Seen: kernel build in a guest of 1 GiB and 12 CPUs, 5 runs: allocstall 4733.80 (std 913.55, 19.30%) → 1514.20; '
         'pgrotated 873313.80 → 28406.40.',
         (Run('reclaim-small', ('6.12-stock-plain',), 5), Run('reclaim-64k', ('6.12-stock-plain',), 5)),
         (), ('records',),
         'Counters are those of the guest and comparable between its kernels and settings. The load is what was allocated, '
         'not the working set: a recording of faults does not know later accesses.'),
    Case('sources', 'lock_stat and entries count the same',
         'Two ways of counting, one in the lock and one at the functions that take it.',
         (Run('pagefault1-both', ALL_612, 5), Run('pagefault1-2m-both', LOOKS, 5),
          Run('storm-both', OLD, 5), Run('ld.lld-both', OLD, 5)),
         (*(line for kernel in ALL_612 for line in agree('pagefault1-both', kernel, (2, 3, 4, 5, 9))),
          *(line for kernel in LOOKS for line in agree('pagefault1-2m-both', kernel)),
          *(line for load in ('storm-both', 'ld.lld-both') for kernel in OLD for line in agree(load, kernel))), (),
         'Both observe the same repetitions (`--together`): a load does not take every lock equally often each time, the '
         'zone lock of the link a tenth more or less.'),
    Case('Debian', 'The same with packaged kernels',
         'Debian\'s cloud kernels have no lock_stat: `entries` counts the acquisitions of both paths. What it cannot give, '
         'contentions and times, `contention` gives only for waiters that queue.',
         (Run('storm-entries', ('debian-6.1',), 5),
          Run('pagefault1-entries', ('debian-6.12',), 5)), DEBIAN,
         ('debian',),
         'Counting is by probes: which function was entered, not which lock was meant.'),
)}

# What null.py splits: (load, kernel, boots), and into what power injects 5%.
NULL = (
    ('pagefault1-null', '6.12-stock', 24), ('storm', '6.1-stock', 24),
    ('storm-time', '6.1-stock-plain', 24), ('pagefault1-2m', '6.1-stock', 10),
    ('storm-whole', '6.1-stock', 10), ('ld.lld', '6.1-stock', 10),
    ('reclaim-small', '6.12-stock-plain', 10), ('pagefault1-profile', '6.12-stock-plain', 10),
)
POWER = (
    ('pagefault1-null', '6.12-stock', 'lock.lru.acquisitions_per_operation', 2),
    ('storm', '6.1-stock', 'lock.deferred-split.acquisitions_per_operation', None),
)


def asks_of(case):
    """What the case asks, and what is asked of each load."""
    return (*case.asks, *(Unresolved(run.load, run.kernels, source) for run in case.runs
                          for source in LOADS[run.load].sources.split(',') if source not in ('', LATENCY)))


def runs_of(name):
    """The runs of a case, or of null and power."""
    if name == 'null':
        return [Run(load, (kernel,), boots) for load, kernel, boots in NULL]
    if name == 'power':
        return [Run(load, (kernel,), boots) for load, kernel, boots in NULL
                if (load, kernel) in {row[:2] for row in POWER}]
    return list(CASES[name].runs)


NAMES = (*CASES, 'null', 'power')
assert all(run.load in LOADS for name in NAMES for run in runs_of(name))
