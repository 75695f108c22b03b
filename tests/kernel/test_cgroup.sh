#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Memory cgroups of replay and measure: made, used, removed, also after a kill. Needs nothing but a
# shell and a few small programs, so that it can run in a guest too:
#     MMTAPE=./mmtape SAMPLE=pagefault1-4k.mmt.zst sh test_cgroup.sh
# Swap of 256 MiB, if there is any, is used for what needs some.

: "${MMTAPE:?the program to be tested}" "${SAMPLE:?a trace of some 128 MiB of page faults}"
WORK=$(mktemp -d) || exit 1
trap 'rm -rf "$WORK"' EXIT
bad=0

skip() { echo "skipped: $1"; exit 77; }
fail() { echo "FAILED: $1"; bad=1; }

# The value of a metric in the first row of a result that has it.
value() { sed -n "s/^ *\"$2\": \([-0-9.e]*\),*\$/\1/p" "$1" | head -n 1; }

said=$("$MMTAPE" measure --quiet --repeat=1 --warmup=0 --cgroup=shared -- true 2>&1) ||
	skip "${said:-measure --cgroup fails}"
MOUNT=$(sed -n 's/^[^ ]* \([^ ]*\) cgroup2 .*/\1/p' /proc/mounts | head -n 1)
PARENTS=$(find "$MOUNT" -name cgroup.subtree_control -exec cat {} + | sort)

# Nothing of ours is there any more, and controllers are handed on as before.
clean() {
	left=$(find "$MOUNT" -type d -name 'mmtape-*')
	[ -z "$left" ] || fail "$1: left behind: $left"
	[ "$(find "$MOUNT" -name cgroup.subtree_control -exec cat {} + | sort)" = "$PARENTS" ] ||
		fail "$1: controllers are not as they were"
	for file in /run/mmtape/*; do
		[ ! -e "$file" ] || ! grep -q cgroup "$file" || fail "$1: $file is left"
	done
}

clean 'measure'

# What the command faults in is counted in the group, and its limit holds.
"$MMTAPE" measure --quiet --repeat=1 --warmup=0 --memory-max=256M -o "$WORK/m.json" -- \
	dd if=/dev/zero of=/dev/null bs=16M count=1 2>/dev/null || fail 'measure --memory-max: status'
[ "$(value "$WORK/m.json" memcg.pgfault)" -gt 0 ] || fail 'no memcg.pgfault'
[ "$(value "$WORK/m.json" memcg.events.oom_kill)" = 0 ] || fail 'something was killed'
grep -q '"memory_max": 268435456' "$WORK/m.json" || fail 'the limit is not in the options'
clean 'measure --memory-max'

# A command of its own processes, which enter nothing: all are in the group.
"$MMTAPE" measure --quiet --repeat=1 --warmup=0 --cgroup=shared -- sh -c \
	'grep -q "^0::.*/mmtape-" /proc/self/cgroup && (grep -q "^0::.*/mmtape-" /proc/self/cgroup)' ||
	fail 'the command is not in the group'

# Copies in one group, and in one each.
for how in shared each; do
	"$MMTAPE" replay --quiet --no-latency --repeat=1 --warmup=0 --copies=2 --cgroup=$how \
		-o "$WORK/$how.json" "$SAMPLE" || fail "replay --cgroup=$how: status"
	[ "$(value "$WORK/$how.json" memcg.pgfault)" -gt 100 ] || fail "$how: no memcg.pgfault"
	clean "replay --cgroup=$how"
done

# Less than the working set: out to swap, or refused without any.
swap=$(sed -n 's/^SwapFree: *\([0-9]*\) kB/\1/p' /proc/meminfo)
if [ "${swap:-0}" -ge 262144 ]; then
	"$MMTAPE" replay --quiet --no-latency --repeat=1 --warmup=0 --fill=random --memory-max=48M \
		-o "$WORK/s.json" "$SAMPLE" || fail 'replay --memory-max: status'
	[ "$(value "$WORK/s.json" vmstat.pswpout)" -gt 1000 ] || fail 'nothing was swapped out'
	[ "$(value "$WORK/s.json" memcg.events.max)" -gt 0 ] || fail 'the limit was not met'
	[ "$(value "$WORK/s.json" memcg.pgsteal)" -gt 1000 ] || fail 'nothing was reclaimed'
elif [ "${swap:-0}" = 0 ]; then
	said=$("$MMTAPE" replay --quiet --memory-max=48M "$SAMPLE" 2>&1) && fail 'not refused without swap'
	case $said in *'--memory-max and swap'*) ;; *) fail "without swap: $said" ;; esac
fi
said=$("$MMTAPE" replay --quiet --memory-max=64K "$SAMPLE" 2>&1) && fail '64K is not refused'
case $said in *'own processes need'*) ;; *) fail "--memory-max=64K: $said" ;; esac
clean 'replay --memory-max'

# After a kill the next start ends what is left in the group, and removes it.
"$MMTAPE" measure --quiet --repeat=1 --warmup=0 --cgroup=shared -- sh -c \
	"echo \$\$ > '$WORK/pid.new'; mv '$WORK/pid.new' '$WORK/pid'; exec sleep 1000" &
killed=$!
tries=0
while [ ! -s "$WORK/pid" ] && [ $tries -lt 300 ]; do
	sleep 0.1
	tries=$((tries + 1))
done
kill -KILL $killed
wait $killed 2>/dev/null
command=$(cat "$WORK/pid")
[ -d "/proc/$command" ] || fail 'the command did not outlive the kill'
[ -n "$(find "$MOUNT" -type d -name 'mmtape-*')" ] || fail 'no group was left'
"$MMTAPE" measure --quiet --repeat=1 --warmup=0 -- true || fail 'the next start'
[ ! -d "/proc/$command" ] || [ "$(sed 's/.*) \(.\).*/\1/' "/proc/$command/stat")" = Z ] ||
	fail 'what was left in the group lives on'
clean 'after a kill'

# Two at once: the first may not switch the controller off that the second uses.
start() {
	"$MMTAPE" measure --quiet --repeat=1 --warmup=0 --cgroup=shared -- sh -c \
		"echo > '$WORK/$1'; until [ -e '$WORK/go$1' ]; do sleep 0.1; done" 2>"$WORK/said$1" &
}
await() {
	tries=0
	while [ ! -e "$1" ] && [ $tries -lt 300 ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
}
start 1
first=$!
await "$WORK/1"
start 2
second=$!
await "$WORK/2"
: >"$WORK/go1"
wait $first || fail 'the first of two'
: >"$WORK/go2"
wait $second || fail "the second of two: $(cat "$WORK/said2")"
"$MMTAPE" measure --quiet --repeat=1 --warmup=0 -- true || fail 'a start after two'
clean 'two at once'

[ $bad = 0 ] && echo "all is well"
exit $bad
