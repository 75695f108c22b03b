# SPDX-License-Identifier: GPL-2.0-or-later
"""The recipe for test kernels: its options, its patches, its check of the configuration. The
kernel here is a few files and a Makefile that acts like kbuild; Debian's sources, where they
are installed, say whether the edits apply."""
import os
import re
import shutil
import subprocess
import tarfile
import tempfile

import lib

LAB = os.path.join(lib.ROOT, 'replay', 'lab')
SCRIPT = os.path.join(LAB, 'build-kernel')
EDITS = {'free-locks': '6.12', 'free-looks': '6.1', 'lru-batch': '6.12', 'unmap-locks': '6.1'}
TOOLS = ('make', 'gcc', 'ld', 'bc', 'bison', 'flex', 'perl', 'patch', 'flock', 'xz')

# tinyconfig and olddefconfig keep the last line of a name; olddefconfig drops what it is told to.
MAKEFILE = '''\
kernelversion:
\t@echo VERSION
tinyconfig:
\techo CONFIG_TINY=y > $(O)/.config
olddefconfig:
\tgrep -v -E '^CONFIG_(DROPPED)=' $(O)/.config > $(O)/new
\ttac $(O)/new | awk -F= '!seen[$$1]++' > $(O)/.config
bzImage:
\tmkdir -p $(O)/arch/x86/boot
\tcat mm/a.c > $(O)/arch/x86/boot/bzImage
'''
SOURCE = 'one\ntwo\nthree\nfour\n'


def run(*args, status=0):
    done = subprocess.run([SCRIPT, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=120, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == status, f'{args}: exit {done.returncode}\n{done.stderr}'
    return done.stdout if status == 0 and not done.stderr else done.stderr


def refused(status, said, *args):
    text = run(*args, status=status)
    assert said in text and text.count('\n') == 1, f'{args}: {text!r}'


def archive(folder, version='6.12.7', dropped='NOTHING', source=SOURCE):
    """A kernel of two files, as an archive."""
    top = os.path.join(folder, 'tree', 'linux')
    os.makedirs(os.path.join(top, 'mm'), exist_ok=True)
    for name, text in (('Makefile', MAKEFILE.replace('VERSION', version)
                        .replace('DROPPED', dropped)), ('mm/a.c', source)):
        with open(os.path.join(top, name), 'w', encoding='utf-8') as f:
            f.write(text)
    path = os.path.join(folder, 'linux-test.tar.xz')
    with tarfile.open(path, 'w:xz') as tar:
        tar.add(top, 'linux')
    return path


def patch_of(folder, name, old, new):
    text = f'--- a/mm/a.c\n+++ b/mm/a.c\n@@ -1,4 +1,4 @@\n'
    for line in SOURCE.splitlines():
        text += f'-{old}\n+{new}\n' if line == old else f' {line}\n'
    return lib.store(folder, name, text.encode())


def need_tools():
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing or not os.path.exists('/usr/include/gelf.h'):
        raise lib.Skip(f"needs {', '.join(missing or ['libelf-dev'])}")


def build(folder, *args, status=0):
    """Builds and gives the image, which is the patched file."""
    need_tools()
    image = os.path.join(folder, 'image')
    said = run('-o', image, '--source', os.path.join(folder, 'linux-test.tar.xz'), '--work',
               os.path.join(folder, 'work'), *args, status=status)
    return lib.load(image).decode() if status == 0 else said


def test_options():
    refused(2, '-o IMAGE', '--plain')
    refused(2, "'--frob'", '--frob')
    refused(2, "'image'", 'image')
    refused(2, 'needs a value', '-o')
    refused(2, "no edit 'x'", '-o', 'i', '--edit', 'x')
    refused(2, 'name', '-o', 'i', '--edit', '../edits/x')
    refused(2, '--jobs', '-o', 'i', '-j', '0')
    refused(2, '--source', '-o', 'i', '--source', 'stable')
    refused(1, 'no such patch', '-o', 'i', '--patch', '/nonexistent')
    refused(1, 'no such folder', '-o', '/nonexistent/image')
    refused(1, 'not a kernel source tree', '-o', 'i', '--source', '/')
    refused(1, '--source 6.12', '-o', 'i', '--edit', 'lru-batch', '--source', '6.1')


def test_help_and_list():
    for line in run('--help').splitlines():
        assert len(line) <= 80, line
    listed = dict(line.split()[:2] for line in run('--list').splitlines())
    assert listed == EDITS, listed


def test_a_tree_of_the_users_is_not_patched():
    with tempfile.TemporaryDirectory() as folder:
        for name in ('Kbuild', 'Makefile'):
            lib.store(folder, name, b'')
        patch = patch_of(folder, 'p', 'two', '2')
        refused(1, 'as it is', '-o', 'i', '--source', folder, '--patch', patch)


def test_patches_come_on_and_off():
    with tempfile.TemporaryDirectory() as folder:
        archive(folder)
        two, three = (patch_of(folder, n, n, n.upper()) for n in ('two', 'three'))
        lib.store(folder, 'three', lib.load(three).replace(b' two', b' TWO'))
        assert build(folder) == SOURCE
        assert build(folder, '--patch', two, '--patch', three) == 'one\nTWO\nTHREE\nfour\n'
        assert build(folder, '--patch', two) == 'one\nTWO\nthree\nfour\n'
        assert build(folder) == SOURCE


def test_a_patch_that_does_not_apply_is_one_line():
    with tempfile.TemporaryDirectory() as folder:
        path = archive(folder)
        common = ('--check', '--source', path, '--work', os.path.join(folder, 'work'))
        run(*common)
        good = patch_of(folder, 'good', 'two', '2')
        bad = patch_of(folder, 'bad', 'five', '5')
        lib.store(folder, 'bad', lib.load(good).replace(b'-two', b'-zwei'))
        refused(1, 'mm/a.c: Hunk #1 FAILED', *common, '--patch', bad)
        refused(1, 'mm/a.c: Hunk #1 FAILED', *common, '--patch', good, '--patch', bad)
        refused(1, 'not a patch', *common, '--patch', lib.store(folder, 'x', b'hello\n'))
        other = lib.load(good).replace(b'mm/a.c', b'mm/none.c')
        refused(1, 'does not apply', *common, '--patch', lib.store(folder, 'o', other))
        run(*common, '--patch', good)


def test_a_tree_that_was_touched_is_unpacked_again():
    with tempfile.TemporaryDirectory() as folder:
        archive(folder)
        two = patch_of(folder, 'two', 'two', '2')
        assert build(folder, '--patch', two) == 'one\n2\nthree\nfour\n'
        lib.store(os.path.join(folder, 'work', 'linux-test', 'source', 'mm'), 'a.c', b'mine\n')
        assert build(folder) == SOURCE
        archive(folder, source='a newer package\n')
        assert build(folder) == 'a newer package\n'


def test_an_archive_of_the_same_second_and_size_is_another():
    with tempfile.TemporaryDirectory() as folder:
        for part, source in enumerate(('one\n', 'two\n')):
            path = archive(folder, source=source)
            os.truncate(path, 4096)     # xz skips zeros at the end
            os.utime(path, ns=(0, 1_700_000_000_000_000_000 + part))
            assert build(folder) == source


def config(folder, kind):
    return lib.load(os.path.join(folder, 'work', 'linux-test', f'build-{kind}',
                                 '.config')).decode().splitlines()


def test_options_of_the_kernel():
    with tempfile.TemporaryDirectory() as folder:
        archive(folder)
        more = lib.store(folder, 'more', b'CONFIG_NR_CPUS=128\n# CONFIG_PSI is not set\n')
        build(folder, '--config', more)
        counting = config(folder, 'lock-stat')
        assert 'CONFIG_LOCK_STAT=y' in counting and 'CONFIG_NR_CPUS=128' in counting
        assert 'CONFIG_PSI=y' not in counting and 'CONFIG_FPROBE_EVENTS=y' in counting
        build(folder, '--plain')
        assert not [line for line in config(folder, 'plain') if line == 'CONFIG_LOCK_STAT=y']
        archive(folder, version='6.1.3')
        build(folder)
        assert 'CONFIG_FPROBE_EVENTS=y' not in config(folder, 'lock-stat')


def test_options_that_were_dropped_are_named():
    with tempfile.TemporaryDirectory() as folder:
        archive(folder, dropped='ZRAM|IO_URING')
        text = build(folder, status=1)
        assert re.search(r'did not take: CONFIG_IO_URING CONFIG_ZRAM \(', text), text


def test_the_edits_apply_to_debians_sources():
    found = False
    for version in sorted(set(EDITS.values())):
        path = f'/usr/src/linux-source-{version}.tar.xz'
        if not os.path.exists(path):
            continue
        found = True
        edits = [os.path.join(LAB, 'edits', name + '.patch')
                 for name in EDITS if EDITS[name] == version]
        names = [re.search(r'^--- a/(\S+)', lib.load(edit).decode(), re.MULTILINE).group(1)
                 for edit in edits]
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(['tar', '-xf', path, '-C', folder, '--strip-components=1',
                            '--occurrence=1', *sorted({f'linux-source-{version}/{name}'
                                                       for name in names})], check=True)
            for edit in edits:
                subprocess.run(['patch', '-d', folder, '-p1', '-f', '-s', '--fuzz=0',
                                '--dry-run', '-i', edit], check=True)
    if not found:
        raise lib.Skip('needs the packages linux-source-6.1 and linux-source-6.12')


lib.main(globals())
