#!/usr/bin/env bash
# Tells what a test run left on the machine.
#
#   hack/leftovers.sh list            print what is there now, one thing a line
#   hack/leftovers.sh compare FILE    exit 1 and name what is there now and was not in FILE,
#                                     after 15 s at the most for what is on its way out
#
# Looked at: containers, networks and volumes of the engine, mounts, network
# links, cgroups, podstead's own folders, and processes of podstead, of private
# engines and of test binaries. Images stay: they are a cache.
set -euo pipefail

engine_objects() {
	docker ps -a --no-trunc --format 'container {{.Names}} {{.ID}}'
	docker network ls -q --no-trunc | sed 's/^/network /'
	docker volume ls -q | sed 's/^/volume /'
}

# Process ids come again, so a process is told by its start time too. A zombie is
# over; that nobody has reaped it yet is not ours to mend.
processes() {
	local proc name stat
	for proc in /proc/[0-9]*; do
		{ name=$(<"$proc/comm") && stat=$(<"$proc/stat"); } 2>/dev/null || continue
		case $name in
		podstead | dockerd | containerd | containerd-shim* | docker-proxy | pause | *.test)
			[ "$(awk '{print $1}' <<<"${stat##*) }")" = Z ] ||
				echo "process $name ${proc#/proc/} started $(awk '{print $20}' <<<"${stat##*) }")"
			;;
		esac
	done
}

# The lock under which agents make the pod network stays once podstead has run.
paths() {
	find /run/podstead /var/lib/podstead /var/log/pods /var/log/containers -mindepth 1 -maxdepth 2 ! -path /run/podstead/network.lock
	find "${TMPDIR:-/tmp}" -maxdepth 1 -name '*podstead*'
} 2>/dev/null

# The engine makes the parent cgroup and keeps it, and one that is killed leaves
# those of its containers empty; what runs in one counts.
cgroups() {
	local procs
	for procs in /sys/fs/cgroup/*/podstead*/*/cgroup.procs /sys/fs/cgroup/podstead*/*/cgroup.procs; do
		if grep -q . "$procs" 2>/dev/null; then echo "cgroup ${procs%/cgroup.procs}"; fi
	done
}

list() {
	engine_objects
	awk '{print "mount", $5}' /proc/self/mountinfo
	ls /sys/class/net | sed 's/^/link /'
	paths | sed 's/^/path /' || true # some of the folders may not exist
	cgroups
	processes
}

case ${1:-} in
list)
	list | sort
	;;
compare)
	# What was told to end, a shim of the last container for one, may take a moment.
	for _ in $(seq 75); do
		left=$(comm -13 "$2" <(list | sort))
		[ -n "$left" ] || break
		sleep 0.2
	done
	if [ -n "$left" ]; then
		echo "left behind:" >&2
		echo "$left" >&2
		exit 1
	fi
	echo "nothing left behind"
	;;
*)
	sed -n '2,10s/^# \{0,1\}//p' "$0" >&2
	exit 2
	;;
esac
