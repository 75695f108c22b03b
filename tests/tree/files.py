# SPDX-License-Identifier: GPL-2.0-or-later
"""The source files of the tree, with or without git."""
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SUFFIXES = ('.c', '.h', '.py', '.sh', '.build', '.ini', '.scd', '.patch', '.config')
NAMED = ('meson_options.txt', '.clang-format')
# Folders whose files are programs without a suffix.
SCRIPTS = ('scripts', '.ci', os.path.join('tests', 'bench'), os.path.join('replay', 'lab'))


def is_source(folder, name):
    if name.endswith(SUFFIXES) or name in NAMED:
        return True
    return folder in SCRIPTS and '.' not in name


def walk(wanted):
    """Paths below the root for which wanted(folder, name), sorted."""
    found = []
    for folder, folders, names in os.walk(ROOT):
        inside = os.path.relpath(folder, ROOT)
        folders[:] = [f for f in folders if f == '.ci' or
                      not f.startswith(('.', 'build', '__pycache__'))]
        found += [os.path.normpath(os.path.join(inside, name)) for name in names
                  if wanted(inside, name)]
    return sorted(found)


def sources():
    return walk(is_source)


def documents():
    return walk(lambda folder, name: name.endswith('.md'))


def lines(path):
    with open(os.path.join(ROOT, path), encoding='utf-8') as f:
        return f.readlines()
