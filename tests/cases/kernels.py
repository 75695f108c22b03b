# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the kernels of the cases are, and how to get one that is not there."""
import glob
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED = os.path.join(os.path.dirname(ROOT), 'shared', 'kernels')
DEBIAN = 'debian-'


class Missing(Exception):
    """A kernel that is not there; says how to get it."""


def recipe(name):
    """The command that builds a kernel of that name, such as 6.12-lru-batch-plain."""
    version, _, edit = name.partition('-')
    plain = edit == 'plain' or edit.endswith('-plain')
    edit = re.sub(r'-?plain$', '', edit)
    words = ['replay/lab/build-kernel', '-o', f'{name}.img']
    if version != '6.12':
        words += ['--source', version]
    if edit != 'stock':
        words += ['--edit', edit]
    return ' '.join(words + ['--plain'] * plain)


def debian_package(version):
    """The newest cloud kernel of that version which apt offers, or None."""
    done = subprocess.run(['apt-cache', 'pkgnames', f'linux-image-{version}.'],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    found = [name for name in done.stdout.split()
             if re.fullmatch(r'linux-image-[\w.+-]+?-cloud-amd64(-unsigned)?', name)]
    found.sort(key=lambda name: [int(n) for n in re.findall(r'\d+', name)], reverse=True)
    for name in found:
        policy = subprocess.run(['apt-cache', 'policy', name], stdout=subprocess.PIPE, text=True,
                                check=False).stdout
        if re.search(r'Candidate: \d', policy):
            return name
    return None


def debian_unpack(version, folder):
    """Downloads the package, which needs no privilege, and takes the image out of it."""
    package = debian_package(version)
    if not package:
        raise Missing(f'no cloud kernel {version} from apt: put one into the folder of --kernels '
                      f'as {DEBIAN}{version}.bzImage')
    work = os.path.join(folder, 'unpack')
    os.makedirs(work, exist_ok=True)
    for command in (['apt-get', 'download', '-qq', package], None):
        if command is None:
            debs = glob.glob(os.path.join(work, package.replace('+', '*') + '_*.deb'))
            if not debs:
                raise Missing(f'apt-get did not leave a package of {package}')
            command = ['dpkg-deb', '-x', debs[0], work]
        done = subprocess.run(command, cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True, check=False)
        if done.returncode:
            raise Missing(f'{package}: {done.stderr.strip()}')
    image = os.path.join(folder, f'{DEBIAN}{version}.bzImage')
    os.replace(glob.glob(os.path.join(work, 'boot', 'vmlinuz-*'))[0], image)
    subprocess.run(['rm', '-r', work], check=True)
    return image


class Kernels:
    """folder: where to look first; scratch: where images from packages are kept."""

    def __init__(self, folder, scratch):
        self.folders = [f for f in (folder, os.environ.get('MMTAPE_KERNELS'), SHARED) if f][:1]
        self.scratch = scratch

    def find(self, name):
        """Path of the image; raises Missing."""
        for folder in [*self.folders, self.scratch]:
            for file in (f'linux-{name}.bzImage', f'{name}.bzImage', f'{name}.img'):
                path = os.path.join(folder, file)
                if os.path.exists(path):
                    return path
        if name.startswith(DEBIAN):
            os.makedirs(self.scratch, exist_ok=True)
            return debian_unpack(name[len(DEBIAN):], self.scratch)
        raise Missing(f"no {name} in {self.folders[0]}: `{recipe(name)}` builds it "
                      '(docs/kernels.md), --kernels says where it is')
