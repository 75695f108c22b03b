# SPDX-License-Identifier: GPL-2.0-or-later
"""capture: what comes into the trace."""
import errno
import os
import re
import shutil
import subprocess

import lib
import recording
from recording import record, scratch

GIB = 1 << 30
# Calls that strace and a trace both show in full; others have arguments behind pointers.
COMPARED = {
    'mmap': 6, 'munmap': 2, 'mremap': 5, 'madvise': 3, 'mprotect': 3, 'pkey_mprotect': 4, 'brk': 1,
    'mlock': 2, 'mlock2': 3, 'munlock': 2, 'mlockall': 1, 'munlockall': 0,
    'set_mempolicy_home_node': 4, 'remap_file_pages': 5, 'userfaultfd': 1, 'shmget': 3, 'shmat': 3,
    'shmdt': 1, 'dup': 1, 'dup2': 2, 'dup3': 3,
}
# strace does not know these by name, or shows what is behind their pointers.
RESULT_ONLY = {'process_madvise', 'mbind', 'set_mempolicy', 'prctl', 'setrlimit', 'prlimit64',
               'fcntl'}
# As C has them: what the upper half of the register holds does not matter.
NARROW = {('mmap', 4), ('madvise', 2), ('mlock2', 2), ('mlockall', 0), ('userfaultfd', 0),
          ('shmget', 0), ('shmget', 2), ('shmat', 0), ('shmat', 2), ('pkey_mprotect', 3),
          ('dup', 0), ('dup2', 0), ('dup2', 1), ('dup3', 0), ('dup3', 1), ('dup3', 2)}


def normal_args(name, args):
    args = list(args[:COMPARED[name]])
    if name == 'mremap' and not args[3] & 6:
        args[4] = 0  # without MREMAP_FIXED and MREMAP_DONTUNMAP the kernel ignores it
    return tuple(a & 0xffffffff if (name, i) in NARROW else a for i, a in enumerate(args))


def strace_result(text):
    """ "= 0x7f…", "= 3" or "= -1 ENOMEM (…)" as the kernel returned it."""
    words = text.split()
    if words[0] == '-1' and len(words) > 1 and hasattr(errno, words[1]):
        return -getattr(errno, words[1]) & (1 << 64) - 1
    return int(words[0], 0) & (1 << 64) - 1


def strace_calls(path):
    """(name, arguments or None, result) of a log of one task in raw numbers."""
    calls = []
    with open(path, encoding='ascii', errors='replace') as log:
        for line in log:
            found = re.match(r'(\w+)\((.*)\)\s*= (.*)$', line)
            if not found:
                continue
            name, args, result = found.groups()
            if name in COMPARED:
                values = [int(a, 0) & (1 << 64) - 1 for a in args.split(',') if a.strip()]
                calls.append((name, normal_args(name, values), strace_result(result)))
            elif name in RESULT_ONLY:
                calls.append((name, None, strace_result(result)))
    return calls


def trace_calls(trace, task, since):
    calls, entered = [], {}
    for e in trace.select(task=task):
        if e.time < since or (e.name not in COMPARED and e.name not in RESULT_ONLY):
            continue
        if e.side == 'enter':
            entered[e.name] = e.args
        else:
            args = entered.pop(e.name)
            calls.append((e.name, normal_args(e.name, args) if e.name in COMPARED else None,
                          e.args[0]))
    return calls


def test_same_calls_as_strace():
    if not shutil.which('strace'):
        raise lib.Skip('needs strace')
    names = ','.join('?' + n for n in sorted(set(COMPARED) | RESULT_ONLY))
    with scratch() as d:
        log = os.path.join(d, 'log')
        trace, _ = record(os.path.join(d, 't'), 'strace', '-ff', '-e', 'trace=' + names, '-e',
                          'raw=all', '-o', log, lib.program('mmcalls'),
                          options=['--raw-addresses'])
        logs = {int(n.split('.')[1]): os.path.join(d, n) for n in os.listdir(d)
                if n.startswith('log.')}
        assert logs and trace.status['complete'], (logs, trace.status)
        total = 0
        for task, path in logs.items():
            execs = trace.select('exec', task=task)
            since = execs[-1].time if execs else 0
            ours, theirs = trace_calls(trace, task, since), strace_calls(path)
            for number, (a, b) in enumerate(zip(ours, theirs)):
                assert a == b, (task, number, a, b)
            assert len(ours) == len(theirs), (task, len(ours), len(theirs))
            total += len(ours)
        print('   strace and the trace agree on', total, 'calls of', len(logs), 'tasks')
        assert total > 50


def test_forks_and_execs_are_followed():
    with scratch() as d:
        trace, _ = record(os.path.join(d, 't'), 'sh', '-c',
                          'for i in 1 2 3 4 5; do /bin/true; done; (exit 3); exit 0')
        children = [e.args[0] for e in trace.select('newtask')]
        assert len(children) == 6, children
        assert len(trace.select('exec')) == 6
        for child in children:
            assert trace.select('exit', task=child), child
            assert trace.select('fault_user', task=child), child
        # Each wait names the child that ended.
        assert [e.args[0] for e in trace.select('wait4', 'leave') if e.args[0] in children] == \
            children
        assert [n for _, n in trace.names].count('true') == 5, trace.names
        assert int(trace.meta['root_task']) == trace.events[0].task
        assert trace.events[0].name == 'execve' and trace.events[0].side == 'enter'


def test_threads_are_followed():
    with scratch() as d:
        trace, _ = record(os.path.join(d, 't'), lib.program('handover'))
        threads = [e for e in trace.select('newtask') if e.args[1] & 0x10000]
        assert threads
        for e in threads:
            assert trace.select('mmap', task=e.args[0]) or trace.select('fault_user',
                                                                        task=e.args[0])


def test_every_kind_of_call_is_whole():
    with scratch() as d:
        trace, _ = record(os.path.join(d, 't'), lib.program('mmcalls'))
        enters, leaves = {}, {}
        for e in trace.events:
            counts = {'enter': enters, 'leave': leaves}.get(e.side)
            if counts is not None:
                counts[e.name] = counts.get(e.name, 0) + 1
        for name in set(COMPARED) | RESULT_ONLY | {'execve', 'execveat'}:
            # An older kernel may lack a call's event; one side alone is wrong.
            assert enters.get(name, 0) == leaves.get(name, 0), name
        for name in ('mmap', 'munmap', 'mremap', 'madvise', 'brk', 'mlock', 'prctl'):
            assert enters.get(name), name
        for name in ('openat', 'memfd_create', 'wait4'):
            assert leaves.get(name) and not enters.get(name), name
        for name in ('close', 'ftruncate', 'fallocate'):
            assert enters.get(name) and not leaves.get(name), name
        assert 'futex' not in enters


def test_futex_when_asked_for():
    with scratch() as d:
        trace, _ = record(os.path.join(d, 't'), lib.program('handover'), options=['--futex'])
        assert trace.select('futex', 'enter') and trace.select('futex', 'leave')


def own_maps(text):
    found = []
    for line in text.splitlines():
        span, _, _, _, inode, *name = line.split()
        start, end = (int(x, 16) for x in span.split('-'))
        if start < 1 << 56:
            found.append((start, end, int(inode), name[0] if name else ''))
    return found


def lowest(trace):
    """Where the program begins; the same whether mappings were read or guessed."""
    return min(m.start for m in trace.maps[0].maps)


def test_raw_addresses_are_those_of_the_process():
    with scratch() as d:
        trace, done = record(os.path.join(d, 't'), 'cat', '/proc/self/maps',
                             options=['--raw-addresses'])
        assert lowest(trace) == own_maps(done.stdout)[0][0]
        assert trace.meta['rebased'] == '0'


def test_addresses_are_moved_by_whole_gib():
    with scratch() as d:
        trace, done = record(os.path.join(d, 't'), 'cat', '/proc/self/maps')
        moved = own_maps(done.stdout)[0][0] - lowest(trace)
        assert moved > 0 and moved % GIB == 0, hex(moved)
        # Every mapping call of the process moves by the same.
        real = {start for start, *_ in own_maps(done.stdout)}
        results = {e.args[0] for e in trace.select('mmap', 'leave')}
        assert sum(r + moved in real for r in results) > len(results) // 2
        assert trace.meta['rebased'] == '1'


def test_mappings_guessed_from_headers():
    with scratch() as d:
        trace, done = record(os.path.join(d, 't'), 'cat', '/proc/self/maps',
                             options=['--raw-addresses', '--no-watch'])
        maps, = trace.maps
        if maps.flags != recording.FROM_HEADERS:
            raise lib.Skip('the command was still there when its exec was met')
        real = own_maps(done.stdout)
        guessed = [m for m in maps.maps if m.kind == recording.KIND_FILE]
        assert len({m.file for m in guessed}) == 2, 'the program and its interpreter'
        for m in guessed:
            # The program has split its last segment with mprotect by then.
            assert any(start == m.start for start, *_ in real), hex(m.start)
            assert any(end == m.end for _, end, *_ in real), hex(m.end)


def test_no_path_and_on_request_no_name():
    with scratch() as d:
        for options, wanted in ([], True), (['--no-names'], False):
            path = os.path.join(d, 't' + str(wanted))
            trace, _ = record(path, lib.program('pagefault1'), '--iterations=1',
                              options=options)
            raw = subprocess.run(['zstd', '-dcq', path], stdout=subprocess.PIPE, check=True).stdout
            assert (b'pagefault1' in raw) == wanted
            assert os.path.dirname(lib.PROGRAMS).encode() not in raw
            assert not any(re.search(rf'\b{re.escape(os.uname().nodename)}\b', v)
                           for v in trace.meta.values())
            assert bool(trace.names) == wanted


def test_32_bit_programs_are_said():
    if not shutil.which('as') or not shutil.which('ld'):
        raise lib.Skip('needs as and ld')
    with scratch() as d:
        code, program = os.path.join(d, 'exit.o'), os.path.join(d, 'exit')
        subprocess.run(['as', '--32', '-o', code, '-'], check=True, text=True,
                       input='.globl _start\n_start: mov $1,%eax\nxor %ebx,%ebx\nint $0x80\n')
        subprocess.run(['ld', '-m', 'elf_i386', '-o', program, code], check=True)
        if subprocess.run(['sh', '-c', program], stderr=subprocess.DEVNULL,
                          check=False).returncode:
            raise lib.Skip('this kernel runs no 32-bit programs')
        for options in [], ['--no-watch']:
            trace, done = record(os.path.join(d, 't'), 'sh', '-c', f'{program}; true',
                                 options=['--force', *options])
            assert trace.counted('programs_32_bit') == 1 and '32-bit' in done.stderr, done.stderr


def test_the_command_keeps_its_priority():
    with scratch() as d:
        _, done = record(os.path.join(d, 't'), 'nice')
        assert int(done.stdout) == os.nice(0)


def test_command_line_when_asked_for():
    with scratch() as d:
        trace, _ = record(os.path.join(d, 't'), 'echo', 'one two', options=['--with-command'])
        assert trace.meta['command'] == 'echo one two'


def test_counters_before_and_after():
    with scratch() as d:
        trace, _ = record(os.path.join(d, 't'), 'true')
        before, after = (trace.stats[w]['pgfault'] for w in ('start', 'end'))
        assert int(after) - int(before) >= len(trace.select('fault_user')) > 0
        assert trace.counted('execs') == 1 and trace.counted('unknown_records') == 0
        assert trace.meta['kernel'] == os.uname().release and trace.meta['zero_page'] in '01'


def test_a_link_without_loss():
    if not shutil.which('ld.lld') or not shutil.which('cc'):
        raise lib.Skip('needs ld.lld and a compiler')
    with scratch() as d:
        path, link = os.path.join(d, 't'), os.path.join(d, 'link')
        subprocess.run([os.path.join(lib.ROOT, 'scripts', 'make-link'), link, '4', '6'], check=True)
        trace, _ = record(path, 'ld.lld', f'@{link}/link.rsp')
        assert trace.status['complete'] and not trace.losses
        dropped = [e for e in trace.select('madvise', 'enter') if e.args[1:] == (0x7fb000, 4)]
        assert dropped, 'no thread gave its stack back'
        size = os.path.getsize(path)
        print('  ', len(trace.events), 'events,', round(size / len(trace.events), 2),
              'bytes each, recorder peak', trace.counted('peak_bytes') >> 20, 'MiB')
        assert size <= 3.5 * len(trace.events)
        assert trace.counted('peak_bytes') <= 64 << 20


lib.main(globals())
