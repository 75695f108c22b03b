# SPDX-License-Identifier: GPL-2.0-or-later
"""null and power: runs null.py on the boots of one kernel and keeps what it found."""
import json
import os
import subprocess
import sys

from cases import NULL, POWER
from loads import LOADS

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'null.py')
NULL_BOOTS, POWER_BOOTS = 10, 20
AT_MOST, AT_LEAST = 5, 80


def kept(out, kind, load, kernel):
    return os.path.join(out, kind, f'{load}.{kernel}.json')


def ask(path, arguments):
    """Runs the tool and keeps its figures; None and its words where it could not judge."""
    done = subprocess.run([sys.executable, TOOL, '--json', *arguments], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1):
        return None, done.stderr.strip()
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(done.stdout)
    return json.loads(done.stdout), ''


def wanted(kind):
    """(load, kernel, arguments) of each row."""
    if kind == 'null':
        return [(load, kernel, []) for load, kernel, _ in NULL]
    return [(load, kernel, ['--power', metric, *(['--order', str(order)] if order else [])])
            for load, kernel, metric, order in POWER]


def judge(kind, data, say):
    """Runs null or power over the results that are there; True where all that could run is as asked."""
    good = True
    for load, kernel, arguments in wanted(kind):
        paths = data.paths(load, kernel)
        need = NULL_BOOTS if kind == 'null' else POWER_BOOTS
        if len(paths) < need:
            say(f'{kind}: {load} on {kernel}: {len(paths)} boots, {need} needed')
            good = False
            continue
        found, why = ask(kept(data.lab.out, kind, load, kernel), [*arguments, *paths])
        say(f'{kind}: {load} on {kernel}: ' + (why or words(kind, found)))
        good &= found is not None and holds(kind, found)
    return good


def holds(kind, found):
    if kind == 'null':
        return found['found'] <= AT_MOST and not found['silent']
    return found['found'] >= AT_LEAST


def words(kind, found):
    if kind == 'null':
        return (f"{found['found']} of {found['splits']} splits with a finding, {found['silent']} not judged, "
                f"{len(found['judged'])} metrics")
    return f"found in {found['found']} of {found['trials']} trials"


def rows(out):
    """For the page, from what is kept."""
    lines = []
    for kind, asked in (('null', f'at most {AT_MOST}'), ('power', f'at least {AT_LEAST}')):
        for load, kernel, _ in wanted(kind):
            try:
                with open(kept(out, kind, load, kernel), encoding='utf-8') as f:
                    found = json.load(f)
            except FileNotFoundError:
                lines.append([kind, load, kernel, '-', asked, 'not run', ''])
                continue
            lines.append([kind, load, kernel, str(found['boots']), asked, words(kind, found),
                          'holds' if holds(kind, found) else 'does not hold'])
    return lines


assert all(load in LOADS for kind in ('null', 'power') for load, *_ in wanted(kind))
