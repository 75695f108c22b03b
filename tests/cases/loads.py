# SPDX-License-Identifier: GPL-2.0-or-later
"""The loads: what is replayed in a boot, and how. Results are kept per load, kernel and boot, so cases share them."""
import collections

# replay: options of `mmtape replay`; lab: of `mmtape lab run`; sources: of locks, each a pass
# of its own.
Load = collections.namedtuple('Load', 'name sample replay lab sources what')

STACKS = ('--place', 'thp-aligned', '--drop-map-stack', '--touch', 'region', '--thp', 'always')
# In the place of sources: no locks, but also the pass that times each call.
LATENCY = 'latency'
# Where locks alone are asked for: times of a kernel with lock_stat are not the kernel's.
NO_TIME = '--no-time'
# lock_stat and entries over the same repetitions.
TOGETHER = (NO_TIME, '--together')
BOTH = 'lock_stat,entries'
# Orders 2, 3, 4, 5 and 9.
FIVE_SIZES = '16k,32k,64k,128k,2m'


def sweep(sizes):
    return ('--copies', '4', '--mthp-sweep', sizes)


LOADS = {load.name: load for load in (
    Load('pagefault1-orders', 'pagefault1-4k', (*sweep(FIVE_SIZES), NO_TIME),
         ('--memory', '1G'), 'lock_stat,contention',
         'page faults of 64 MiB, twice, in each of four processes, folios of orders 2, 3, 4, 5, 9'),
    Load('pagefault1-free', 'pagefault1-4k', (*sweep('16k,32k,64k,128k,256k,512k,1m'), NO_TIME),
         ('--memory', '1G'), 'lock_stat', 'the same, orders 2 to 8'),
    Load('pagefault1-sides', 'pagefault1-4k', (*sweep(FIVE_SIZES), NO_TIME), ('--memory', '1G'),
         'entries', 'the first again, allocation and free side apart'),
    Load('pagefault1-null', 'pagefault1-4k', (*sweep('16k,64k'), NO_TIME), ('--memory', '1G'), 'lock_stat',
         'the same, orders 2 and 4'),
    Load('pagefault1-2m', 'pagefault1-2m', (NO_TIME,), ('--memory', '1G'), BOTH,
         'huge-page faults of 64 MiB, 16 times'),
    Load('storm', 'storm', ('--touch', 'dense'), ('--memory', '1G'), BOTH,
         '32 aligned ranges of 8 MiB from 4 threads, 0x7fb000 bytes of each dropped'),
    Load('storm-whole', 'storm-whole', ('--touch', 'dense'), ('--memory', '1G'), 'lock_stat',
         'the same with 0x600000 bytes: whole huge pages'),
    Load('ld.lld', 'ld.lld', STACKS, ('--memory', '2G'), BOTH,
         'the link, its thread stacks on huge pages'),
    Load('storm-time', 'storm', ('--copies', '4', '--touch', 'dense'), ('--memory', '1G'), LATENCY,
         'four storms at once, timed'),
    Load('storm-time-whole', 'storm-whole', ('--copies', '4', '--touch', 'dense'),
         ('--memory', '1G'), LATENCY, 'the same with 0x600000 bytes: nothing is cut'),
    Load('pagefault1-profile', 'pagefault1-4k', sweep('16k'), ('--memory', '1G'),
         'profile', 'page faults with folios of order 2, profiled'),
    Load('reclaim-small', 'pagefault1-4k', ('--copies', '4', '--fill', 'random', '--thp', 'never',
                                             '--memory-max', '128M'),
         ('--memory', '1G', '--swap', '512M'), '', '256 MiB of random bytes in 128 MiB, pages of 4 KiB'),
    Load('reclaim-64k', 'pagefault1-4k', ('--copies', '4', '--fill', 'random', '--thp', 'never',
                                           '--mthp', '64k=always', '--memory-max', '128M'),
         ('--memory', '1G', '--swap', '512M'), '', 'the same with folios of 64 KiB'),
    Load('storm-entries', 'storm', ('--touch', 'dense'), ('--memory', '1G'), 'entries',
         'the storm, for kernels without lock_stat'),
    Load('pagefault1-entries', 'pagefault1-4k', sweep('16k,64k,2m'), ('--memory', '1G'),
         'entries', 'page faults by order, for kernels without lock_stat'),
    Load('pagefault1-both', 'pagefault1-4k', (*sweep(FIVE_SIZES), *TOGETHER), ('--memory', '1G'),
         BOTH, 'page faults by order, counted in two ways at once'),
    Load('pagefault1-2m-both', 'pagefault1-2m', TOGETHER, ('--memory', '1G'), BOTH,
         'huge-page faults, counted in two ways at once'),
    Load('storm-both', 'storm', ('--touch', 'dense', *TOGETHER), ('--memory', '1G'), BOTH,
         'the storm, counted in two ways at once'),
    Load('ld.lld-both', 'ld.lld', (*STACKS, *TOGETHER), ('--memory', '2G'), BOTH,
         'the link, counted in two ways at once'),
)}
