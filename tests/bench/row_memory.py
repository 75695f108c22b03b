# SPDX-License-Identifier: GPL-2.0-or-later
"""Peak memory of the recorder's own processes; the kernel's ring buffers are not in it."""
import os
import time

import row_replay
from harness import Line, Skip, need_capture

ASKED_MIB = 64
POLL_SECONDS = 0.002


def peak_kib(pid):
    """VmHWM of a live process, 0 if it is gone."""
    try:
        with open(f'/proc/{pid}/status', encoding='utf-8') as f:
            return next((int(line.split()[1]) for line in f if line.startswith('VmHWM:')), 0)
    except (FileNotFoundError, ProcessLookupError):
        return 0


def own_processes(pid, program):
    """pid and those children of it that still are the recorder's program, not yet the command."""
    found = [pid]
    try:
        with open(f'/proc/{pid}/task/{pid}/children', encoding='utf-8') as f:
            children = f.read().split()
    except (FileNotFoundError, ProcessLookupError):
        return found
    for child in children:
        try:
            if os.path.samefile(f'/proc/{child}/exe', program):
                found.append(int(child))
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


def peak_mib(bench, *command):
    """A peak only grows, so looking often until the end finds it."""
    peaks = {}

    def watch(process):
        while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            for pid in own_processes(process.pid, bench.mmtape):
                peaks[pid] = max(peaks.get(pid, 0), peak_kib(pid))
            time.sleep(POLL_SECONDS)

    info = bench.capture(bench.path('memory.mmt.zst'), *command, watch=watch)
    return sum(peaks.values()) / 1024, info['events']


def line(bench, name, *command):
    mib, events = peak_mib(bench, *command)
    return Line(f'capture, peak MiB: {name}', f'<= {ASKED_MIB}', f'{mib:.1f}', mib <= ASKED_MIB,
                [f'VmHWM of the recorder; {events} events'])


def measure(bench):
    need_capture()
    lines = [line(bench, 'faults', *row_replay.native_command(bench, 'faults'))]
    try:
        return lines + [line(bench, 'ld.lld', *bench.link_command())]
    except Skip as why:
        return lines + [Line('capture, peak MiB: ld.lld', f'<= {ASKED_MIB}', '-', None,
                             [f'not measured: {why}'])]
