#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# forks.sh [PROGRAM [ARGUMENT...]]: forks and executes PROGRAM (/bin/true) a few
# dozen times, one child after the other.
set -eu
[ $# -gt 0 ] || set -- /bin/true

for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24; do
	"$@"
done
# Children that fork on their own, and children that only fork.
for word in one two three four; do
	(
		/bin/echo "$word" >/dev/null
		/bin/true
		:
	)
	said=$(/bin/echo "$word")
	[ "$said" = "$word" ]
	(:)
done
