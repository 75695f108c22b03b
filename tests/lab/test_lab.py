# SPDX-License-Identifier: GPL-2.0-or-later
"""
Kernels booted in QEMU: a Debian cloud kernel as packaged, a pair of test kernels, and guests
that fail. Emulated, so that it is the same on every machine.
"""
import functools
import glob
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

import lib
from synthetic import ROOT, Synthetic

KERNELS = os.environ.get('MMTAPE_KERNELS') or os.path.join(lib.ROOT, '..', 'shared', 'kernels')
CACHE = os.environ.get('MMTAPE_LAB_CACHE', os.path.join(tempfile.gettempdir(), 'mmtape-lab-cache'))
PACKAGE = os.environ.get('MMTAPE_CLOUD_KERNEL', 'linux-image-6.12-cloud-amd64')
QEMU = 'qemu-system-x86_64'
SMALL = ('--accel=tcg', '--cpus=2', '--memory=512M', '--warmup=0', '--timeout=3m', '--quiet')
SERIAL = 0x3f8


def need_qemu():
    if not shutil.which(QEMU):
        raise lib.Skip(f'needs {QEMU} (Debian: qemu-system-x86)')
    if not os.path.exists(lib.MMTAPE + '-static'):
        raise lib.Skip('needs mmtape-static: the static libraries are not there')


def test_kernel(name):
    path = os.path.join(KERNELS, f'linux-{name}.bzImage')
    if not os.path.exists(path):
        raise lib.Skip(f'needs test kernels in {KERNELS} (MMTAPE_KERNELS)')
    return path


test_kernel.__name__ = 'kernel'  # not a test


def output_of(*words, **more):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          stdin=subprocess.DEVNULL, check=True, **more).stdout
