# SPDX-License-Identifier: GPL-2.0-or-later
"""capture when things go wrong: status, one clear line each, and nothing left behind."""
import ctypes
import errno
import os
import pty
import select
import shutil
import signal
import struct
import subprocess

import lib
import recording
from recording import record, scratch, start

IO_URING_SETUP = 425
JOURNALS = '/run/mmtape'


def one_line(done, *words):
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    for word in words:
        assert word in lines[0], (word, lines[0])


def nothing_left(pid=None):
    left = recording.instances_of(pid) if pid else []
    assert not left, left
    journals = os.listdir(JOURNALS) if os.path.isdir(JOURNALS) else []
    assert not [n for n in journals if pid and n.startswith(f'{pid}.')], journals


def refused(status, path, *command, options=(), words=(), **more):
    """The recording fails with one line and leaves no file."""
    lib.need_tracefs()
    done = lib.expect(status, 'capture', '-o', path, *options, '--', *command, **more)
    one_line(done, *words)
    assert not os.path.exists(path)


def test_status_is_passed_on():
    with scratch() as d:
        path = os.path.join(d, 't')
        for command, status in (['true'], 0), (['sh', '-c', 'exit 7'], 7), \
                (['sh', '-c', 'kill -KILL $$'], 128 + 9):
            record(path, *command, options=['--force'], status=status)
        trace, _ = record(path, 'sh', '-c', 'exit 9', options=['--force'], status=9)
        assert trace.tail['flags'] == recording.STATUS_KNOWN and trace.tail['status'] == 9 << 8


def test_commands_that_cannot_be_run():
    with scratch() as d:
        path, script = os.path.join(d, 't'), os.path.join(d, 'script')
        refused(127, path, 'mmtape-no-such-command', words=['mmtape-no-such-command', 'not found'])
        refused(127, path, '/no/such/program', words=['/no/such/program'])
        with open(script, 'w', encoding='ascii') as f:
            f.write('#!/no/such/interpreter\n')
        refused(126, path, script, words=[script, 'Permission denied'])
        os.chmod(script, 0o755)
        refused(127, path, script, words=[script])
        refused(126, path, d, words=[d])


def test_a_script_without_a_first_line_is_for_the_shell():
    with scratch() as d:
        script = os.path.join(d, 'script')
        with open(script, 'w', encoding='ascii') as f:
            f.write('exit 5\n')
        os.chmod(script, 0o755)
        record(os.path.join(d, 't'), script, status=5)


def test_output_that_cannot_be_made():
    lib.need_tracefs()
    with scratch() as d:
        path = os.path.join(d, 't')
        record(path, 'true')
        done = lib.expect(125, 'capture', '-o', path, '--', 'true')
        one_line(done, path, '--force')
        recording.Trace(path)
        refused(125, os.path.join(d, 'none', 't'), 'true', words=['no such directory'])
        link = os.path.join(d, 'link')
        os.symlink(os.path.join(d, 'target'), link)
        lib.expect(125, 'capture', '-o', link, '--', 'true')
        assert not os.path.exists(os.path.join(d, 'target'))


def test_output_is_private_and_of_who_called_sudo():
    with scratch() as d:
        path = os.path.join(d, 't')
        _, done = record(path, 'sh', '-c', 'echo out; echo err >&2', env={
            **os.environ, 'SUDO_UID': '12345', 'SUDO_GID': '23456'})
        found = os.stat(path)
        assert (found.st_uid, found.st_gid) == (12345, 23456), found
        assert found.st_mode & 0o7777 == 0o600, found
        assert done.stdout == 'out\n' and done.stderr.startswith('err\n'), done


def test_usage():
    lib.expect(2, 'capture')
    lib.expect(2, 'capture', '--no-such-option', '--', 'true')
    lib.expect(2, 'capture', '--buffer-size=lots', '--', 'true')


def signalled(number):
    with scratch() as d:
        path = os.path.join(d, 't')
        ready = os.path.join(d, 'ready')
        run = start(path, 'sh', '-c', f'/bin/true; : >{ready}; exec sleep 1000')
        lib.wait_for('the command', lambda: os.path.exists(ready))
        assert recording.instances_of(run.pid)
        run.send_signal(number)
        _, stderr = run.communicate(timeout=30)
        assert run.returncode == 128 + number, (run.returncode, stderr)
        nothing_left(run.pid)
        trace = recording.Trace(path)
        assert trace.tail['flags'] & recording.INTERRUPTED and not trace.status['damage']
        assert len(trace.select('exec')) >= 2


def test_sigint():
    signalled(signal.SIGINT)


def test_sigterm():
    signalled(signal.SIGTERM)


def test_sighup():
    signalled(signal.SIGHUP)


def test_sigkill_then_the_next_start_cleans_up():
    with scratch() as d:
        path, ready = os.path.join(d, 't'), os.path.join(d, 'ready')
        run = start(path, 'sh', '-c', f'for i in 1 2 3; do /bin/true; done; : >{ready}; '
                    'exec sleep 1000')
        lib.wait_for('the command', lambda: os.path.exists(ready))
        command = child_of(run.pid)
        # The file is written to every second: what has happened comes without an end.
        lib.wait_for('a flush', lambda: len(recording.Trace(path).select('exec')) == 5, 5)
        run.kill()
        run.wait()
        os.kill(command, signal.SIGKILL)
        run.communicate(timeout=30)
        trace = recording.Trace(path)
        assert len(trace.select('exec')) == 5 and trace.tail is None, trace.status
        left = recording.instances_of(run.pid)
        other, done = record(os.path.join(d, 't2'), 'true')
        # Another mmtape on this machine may have been first.
        assert other.status['complete'] and (not left or 'removed' in done.stderr), done.stderr
        nothing_left(run.pid)


def child_of(pid):
    with open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as f:
        return int(f.read().split()[0])


def test_disk_full():
    lib.need_tracefs()
    with scratch() as d:
        small = os.path.join(d, 'small')
        os.mkdir(small)
        if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=128k', 'none', small],
                          check=False).returncode:
            raise lib.Skip('may not mount a tmpfs')
        try:
            path, done = os.path.join(small, 't'), os.path.join(d, 'done')
            run = start(path, 'sh', '-c',
                        f'{lib.program("pagefault1")} --small --iterations=20 && : >{done}')
            _, stderr = run.communicate(timeout=60)
            assert run.returncode == 125, (run.returncode, stderr)
            assert stderr.count('no room left') == 1 and 'events in' not in stderr, stderr
            assert os.path.exists(done), 'the command did not go on to its end'
            nothing_left(run.pid)
            trace = recording.Trace(path)
            assert len(trace.events) > 1000 and not trace.status['complete']
            assert trace.tail is None or trace.tail['flags'] & recording.INTERRUPTED
        finally:
            subprocess.run(['umount', small], check=True)


def forbid_io_uring(error):
    """A seccomp filter: io_uring_setup fails with that error, all else is allowed."""
    program = struct.pack('HBBI' * 4, 0x20, 0, 0, 0, 0x15, 0, 1, IO_URING_SETUP, 0x06, 0, 0,
                          0x00050000 | error, 0x06, 0, 0, 0x7fff0000)
    buffer = ctypes.create_string_buffer(program)
    fprog = struct.pack('HxxxxxxP', 4, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, fprog, 0, 0):
        os._exit(99)


def plain_reads(options=(), **more):
    with scratch() as d:
        trace, done = record(os.path.join(d, 't'), lib.program('pagefault1'), '--small', '--iterations=2',
                             options=options, **more)
        assert trace.status['complete'] and len(trace.events) > 1000
        assert 'plain reads' in done.stderr, done.stderr


def test_io_uring_refused_by_seccomp():
    for error in errno.EPERM, errno.ENOSYS:
        plain_reads(preexec_fn=lambda error=error: forbid_io_uring(error))


def test_io_uring_switched_off():
    lib.need_tracefs()
    path = '/proc/sys/kernel/io_uring_disabled'
    if not os.path.exists(path):
        raise lib.Skip('needs sysctl kernel.io_uring_disabled')
    with open(path, encoding='ascii') as f:
        before = f.read()
    try:
        with open(path, 'w', encoding='ascii') as f:
            f.write('2')
        plain_reads()
    finally:
        with open(path, 'w', encoding='ascii') as f:
            f.write(before)


def test_io_uring_not_wanted():
    plain_reads(options=['--no-io-uring'])


def test_io_uring_by_default():
    with scratch() as d:
        trace, done = record(os.path.join(d, 't'), 'true')
        if 'plain reads' in done.stderr:
            raise lib.Skip('io_uring is not allowed here')
        assert trace.status['complete']


def test_loss_is_told():
    with scratch() as d:
        path = os.path.join(d, 't')
        # The recorder stands still until the small buffers have been filled many times.
        run = start(path, 'sh', '-c', f'kill -STOP $PPID; {lib.program("pagefault1")} --small '
                    '--iterations=2; kill -CONT $PPID', options=['--buffer-size=4K', '--strict'])
        _, stderr = run.communicate(timeout=60)
        assert run.returncode == 3, (run.returncode, stderr)
        assert 'events lost' in stderr and '--buffer-size' in stderr
        trace = recording.Trace(path)
        assert not trace.status['complete'] and trace.tail['lost'] == trace.status['lost'] > 1000
        assert sum(loss.events for loss in trace.losses) == trace.tail['lost']
        assert all(loss.start < loss.end for loss in trace.losses)
        nothing_left(run.pid)


def test_limits():
    with scratch() as d:
        path = os.path.join(d, 't')
        trace, done = record(path, 'sh', '-c', 'sleep 0.5; exit 4', status=4,
                             options=['--max-duration=100ms'])
        assert trace.tail['flags'] & recording.INTERRUPTED and '--max-duration' in done.stderr
        assert not trace.select('exit', task=int(trace.meta['root_task']))
        trace, done = record(path, lib.program('pagefault1'), '--small', '--iterations=30',
                             options=['--force', '--max-size=40K'])
        assert trace.tail['flags'] & recording.INTERRUPTED and '--max-size' in done.stderr


def test_progress_on_a_terminal():
    lib.need_tracefs()
    with scratch() as d:
        master, slave = pty.openpty()
        run = subprocess.Popen([lib.MMTAPE, 'capture', '-o', os.path.join(d, 't'), '--', 'sleep',
                                '0.6'], stdin=subprocess.DEVNULL, stderr=slave)
        os.close(slave)
        text = b''
        while select.select([master], [], [], 30)[0]:
            try:
                more = os.read(master, 65536)
            except OSError:  # the other side is closed
                break
            if not more:
                break
            text += more
        os.close(master)
        assert run.wait() == 0 and b'recording:' in text and b'lost' in text, text


def test_in_a_pid_namespace():
    lib.need_tracefs()
    with scratch() as d:
        path = os.path.join(d, 't')
        done = subprocess.run(['unshare', '-pf', '--mount-proc', lib.MMTAPE, 'capture', '-o', path,
                               '--', 'sh', '-c', '/bin/true; exit 3'], capture_output=True,
                              text=True, check=False)
        if 'unshare:' in done.stderr:
            raise lib.Skip('may not unshare')
        assert done.returncode == 3 and 'PID namespace' in done.stderr, done
        trace = recording.Trace(path)
        assert trace.status['complete'] and len(trace.select('exec')) == 2
        assert trace.events[0].task == int(trace.meta['root_task'])
        assert all(m.flags == recording.FROM_HEADERS for m in trace.maps)


def test_descendants_that_live_on():
    with scratch() as d:
        trace, _ = record(os.path.join(d, 't'), 'sh', '-c', 'sleep 2 >/dev/null 2>&1 & exit 0')
        assert trace.counted('tasks_alive_at_end') == 1


def without_root(*command):
    return ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', *command]


def test_without_privilege():
    lib.need_root()
    if not shutil.which('setpriv'):
        raise lib.Skip('needs setpriv')
    done = subprocess.run(without_root(lib.MMTAPE, 'capture', '-o', '/dev/shm/mmtape-test', '--',
                                       'true'), capture_output=True, text=True, check=False)
    if done.returncode == 126:
        raise lib.Skip('nobody may not run the program where it was built')
    assert done.returncode == 125, (done.returncode, done.stderr)
    one_line(done, 'root')


def in_own_mounts(script):
    """Runs a shell script in a mount namespace of its own, then mmtape capture -- true."""
    lib.need_tracefs()
    with scratch() as d:
        path = os.path.join(d, 't')
        done = subprocess.run(['unshare', '-m', 'sh', '-ec', script +
                               f'\nexec {lib.MMTAPE} capture -o {path} -- true'],
                              capture_output=True, text=True, check=False)
        if 'unshare:' in done.stderr:
            raise lib.Skip('may not unshare mounts')
        assert done.returncode == 125 and not os.path.exists(path), done
        done.stderr = ''.join(line for line in done.stderr.splitlines(True)
                              if not line.startswith('umount:'))
        return done


def test_tracefs_not_mounted():
    done = in_own_mounts(f'umount -l {lib.TRACEFS}\numount -l /sys/kernel/debug || :')
    one_line(done, 'mount -t tracefs')


def test_tracefs_empty():
    one_line(in_own_mounts(f'mount -t tmpfs none {lib.TRACEFS}'), 'lockdown')


def test_no_syscalls_events():
    one_line(in_own_mounts(f'mount -t tmpfs none {lib.TRACEFS}/events/syscalls'),
             'CONFIG_FTRACE_SYSCALLS')


lib.main(globals())
