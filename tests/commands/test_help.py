# SPDX-License-Identifier: GPL-2.0-or-later
"""The help of every command: where it goes, how wide it is, and that it matches the manual."""
import os
import re

import lib

WIDTH = 80
COMMON = {'help', 'quiet'}


def commands():
    """Names that `mmtape --help` lists."""
    text = lib.expect(0, '--help').stdout
    found = re.findall(r'^  ([a-z][a-z-]*) +\S', text, re.MULTILINE)
    assert found, 'mmtape --help lists no command'
    return found


def check_help(*args):
    done = lib.expect(0, *args)
    assert not done.stderr, f'{args}: wrote to standard error: {done.stderr}'
    for line in done.stdout.splitlines():
        assert len(line) <= WIDTH, f'{args}: {len(line)} columns: {line}'
        assert line == line.rstrip(), f'{args}: blanks at the end of: {line!r}'
    return done.stdout


def check_usage_error(*args):
    done = lib.expect(2, *args)
    assert not done.stdout, f'{args}: wrote to standard output: {done.stdout}'
    assert done.stderr.count('\n') == 1, f'{args}: not one line: {done.stderr!r}'
    return done.stderr


def manual(name):
    path = os.path.join(lib.ROOT, 'docs', 'man', name + '.1.scd')
    assert os.path.exists(path), f'no manual page {path}'
    with open(path, encoding='utf-8') as f:
        return f.read()


def options_of_help(text):
    return set(re.findall(r'^  (?:-\S |   ?)?\s*--([a-z][a-z0-9-]*)', text, re.MULTILINE))


def options_of_manual(text):
    """Options are paragraphs of their own: *-o*, *--output*=_FILE_ or *--strict*."""
    return set(re.findall(r'^(?:\*-\w\*(?: _\S+_)?, )?\*--([a-z][a-z0-9-]*)\*', text,
                          re.MULTILINE))


def actions(name, text):
    """Commands of a command that does several things: its usage lines name them."""
    return set(re.findall(rf'^(?:usage:|      ) mmtape {name} ([a-z]+) --', text, re.MULTILINE))


def options_of(name):
    """Of the command and of its actions."""
    text = check_help(name, '--help')
    found = options_of_help(text)
    for action in actions(name, text):
        found |= options_of_help(check_help(name, action, '--help'))
    return found


def test_program_help():
    assert check_help('--help') == check_help('-h')


def test_version():
    assert re.fullmatch(r'\d+\.\d+\.\d+\n', check_help('--version'))


def test_command_help():
    for name in commands():
        text = check_help(name, '--help')
        assert text.startswith(f'usage: mmtape {name}'), text
        assert text == check_help(name, '-h')


def test_options_are_in_the_manual():
    for name in commands():
        helped = options_of(name)
        assert COMMON <= helped, f'{name}: --help shows only {helped}'
        described = options_of_manual(manual('mmtape-' + name))
        assert helped - COMMON == described - COMMON, (
            f'{name}: only in --help: {sorted(helped - described)}, '
            f'only in the manual: {sorted(described - helped)}')


def test_manual_lists_every_command():
    text = manual('mmtape')
    for name in commands():
        assert f'*mmtape-{name}*(1)' in text, f'mmtape(1) does not name mmtape-{name}(1)'


def test_unknown_command():
    assert "'nonsense'" in check_usage_error('nonsense')


def test_no_command():
    check_usage_error()


def test_unknown_option():
    for name in commands():
        assert '--no-such-option' in check_usage_error(name, '--no-such-option')
        assert '-%' in check_usage_error(name, '-%')


lib.main(globals())
