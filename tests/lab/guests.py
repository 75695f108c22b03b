# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests of the lab share: an image that passes for a kernel, and a QEMU that plays a guest."""
import os
import stat
import struct
import sys

IMAGE_BYTES = 4096

# Instead of QEMU: finds its serial ports among the words, and does what GUEST says, a program in Python
# with say(text) for the console, frame(kind, body) for the second port, and boot, the number of this one.
FAKE = '''#!{python}
import json, os, re, struct, sys, time, zlib
sys.path.insert(0, {folder!r})
from guests import result
ports = dict(re.findall(r'file,id=(\\w+),path=(\\S+)', '\\n'.join(sys.argv)))
console = open(ports['console'], 'wb', buffering=0)
frames = open(ports['frames'], 'wb', buffering=0)
kernel = sys.argv[sys.argv.index('-kernel') + 1]
with open({log!r}, 'a+') as log:
    log.write(os.path.basename(kernel) + '\\n')
    log.seek(0)
    boot = log.read().count(os.path.basename(kernel) + '\\n') - 1

def say(text):
    console.write(text.encode())

def make_frame(kind, body):
    body = body.encode()
    head = kind.encode() + struct.pack('<I', len(body))
    return b'mmtL' + head + struct.pack('<I', zlib.crc32(head + body)) + body + b'Lend'

def frame(kind, body):
    frames.write(make_frame(kind, body))

HELLO = 'kernel=6.0-fake\\nkernel_version=#1\\ncpus=4\\nnuma_nodes=1\\nmemory=1\\n'

def finish(status='exit 0', **more):
    say('Linux version 6.0-fake\\n')
    frame('H', HELLO)
    frame('R', json.dumps(result(**more)))
    frame('E', status)

{guest}
'''


def result(elapsed=1.5, kernel='6.0-fake', **provenance):
    """The least that is a result."""
    return {'schema': 'mmtape-result', 'version': 1,
            'provenance': {'kernel': kernel, 'trace_id': '0', 'sources': [], **provenance},
            'primary': ['elapsed'], 'units': {'elapsed': 's'}, 'better': {'elapsed': 'less'},
            'denominators': {}, 'fidelity': {'mismatches': 0},
            'repetitions': [{'boot': 0, 'round': 0, 'pass': 'time',
                             'metrics': {'elapsed': elapsed}}]}


def image(path):
    """A file with the header of a 64-bit kernel."""
    head = bytearray(IMAGE_BYTES)
    struct.pack_into('<H', head, 0x1fe, 0xaa55)
    head[0x202:0x206] = b'HdrS'
    struct.pack_into('<H', head, 0x206, 0x20f)
    head[0x211] = 1
    struct.pack_into('<H', head, 0x236, 1)
    head[0x300:0x304] = os.path.basename(path).encode()[:4].ljust(4)
    with open(path, 'wb') as f:
        f.write(head)
    return path


def qemu(folder, guest):
    """Path of a fake QEMU; which kernels it booted is in the file `log` of the folder."""
    path = os.path.join(folder, 'qemu')
    with open(path, 'w', encoding='utf-8') as f:
        f.write(FAKE.format(python=sys.executable, folder=os.path.dirname(os.path.abspath(__file__)),
                            log=os.path.join(folder, 'log'), guest=guest))
    os.chmod(path, stat.S_IRWXU)
    return path


def booted(folder):
    """Names of the images in the order in which they were booted."""
    try:
        with open(os.path.join(folder, 'log'), encoding='utf-8') as f:
            return f.read().split()
    except FileNotFoundError:
        return []
