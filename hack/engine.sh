#!/bin/sh
# A Docker engine for tests and the demo.
#
#   hack/engine.sh                   make sure one runs; on Debian or Ubuntu, as
#                                    root, install and start it if there is none.
#                                    An engine that is there is never touched.
#   hack/engine.sh private DIR [--live-restore]
#                                    start a dockerd of its own, all its state in
#                                    DIR, on unix://DIR/docker.sock; for tests that
#                                    stop, kill or hang an engine. Started again on
#                                    the same DIR it finds its containers again.
#   hack/engine.sh private-stop DIR  end it and take away all it left, DIR too
set -eu

say() { echo "engine: $*"; }

die() {
	say "$*" >&2
	exit 1
}

# answers [HOST]: whether an engine answers there, or at the usual place.
answers() { docker ${1:+--host "$1"} version --format '{{.Server.Version}}' 2>/dev/null; }

# await SECONDS COMMAND...: until the command succeeds.
await() {
	tries=$(($1 * 10))
	shift
	until "$@" >/dev/null; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		sleep 0.1
	done
}

# missing COMMAND...: those that are not installed.
missing() {
	for command; do
		command -v "$command" >/dev/null || printf '%s ' "$command"
	done
}

install() {
	[ "$(id -u)" = 0 ] || die "no engine answers, and installing one takes root"
	command -v apt-get >/dev/null || die "no engine answers, and this is neither Debian nor Ubuntu: install Docker"
	say "installing docker.io, iptables, iproute2 and busybox-static from the distribution"
	export DEBIAN_FRONTEND=noninteractive
	# Starting services is ours, below: there may be no systemd.
	apt-get update -qq
	apt-get install -y -qq --no-install-recommends docker.io iptables iproute2 busybox-static ca-certificates
	command -v docker >/dev/null || apt-get install -y -qq --no-install-recommends docker-cli
}

ensure() {
	if version=$(answers); then
		say "version $version answers; nothing to do"
		return
	fi
	[ -z "$(missing docker dockerd iptables)" ] || install
	if version=$(await 5 answers && answers); then
		say "version $version answers; its package started it"
		return
	fi
	[ "$(id -u)" = 0 ] || die "no engine answers, and starting one takes root"
	log=/var/log/podstead-dockerd.log
	say "starting dockerd; its log is $log"
	setsid dockerd >"$log" 2>&1 </dev/null &
	await 60 answers || die "dockerd did not come up; see $log"
	say "version $(answers) answers"
}

# bridge DIR: the name of a private engine's bridge, at most 15 bytes.
bridge() { printf 'psd%s' "$(printf %s "$1" | cksum | cut -d ' ' -f 1)"; }

# addresses DIR: a /24 for that bridge that no route covers.
addresses() {
	sum=$(printf %s "$1" | cksum | cut -d ' ' -f 1)
	for offset in 0 1 2 3 4 5 6 7; do
		net=10.111.$(((sum + offset) % 256))
		if ! ip -4 route | grep -q "^$net\.0/24"; then
			echo "$net.1/24"
			return
		fi
	done
	die "no free subnet in 10.111.0.0/16"
}

private() {
	dir=$1
	shift
	[ "$(id -u)" = 0 ] || die "a private engine takes root"
	lacking=$(missing dockerd docker ip)
	[ -z "$lacking" ] || die "not installed: $lacking(run hack/engine.sh first)"
	mkdir -p "$dir"
	dir=$(cd "$dir" && pwd)
	if version=$(answers "unix://$dir/docker.sock"); then
		say "version $version answers in $dir; nothing to do"
		return
	fi
	link=$(bridge "$dir")
	if ! ip link show "$link" >/dev/null 2>&1; then
		ip link add "$link" type bridge
		ip addr add "$(addresses "$dir")" dev "$link"
		ip link set "$link" up
	fi
	rm -f "$dir/docker.pid"
	# Where nobody reaps, a dead containerd looks alive to dockerd, which waits for it.
	if gone "$(cat "$dir/exec/containerd/containerd.pid" 2>/dev/null || echo none)"; then
		rm -f "$dir/exec/containerd/containerd.pid"
	fi
	echo '{}' >"$dir/daemon.json" # not the machine's own settings
	setsid dockerd --config-file "$dir/daemon.json" --data-root "$dir/data" --exec-root "$dir/exec" --pidfile "$dir/docker.pid" \
		--host "unix://$dir/docker.sock" --bridge "$link" --iptables=false --ip-masq=false "$@" \
		>>"$dir/dockerd.log" 2>&1 </dev/null &
	await 60 answers "unix://$dir/docker.sock" || die "dockerd did not come up: $(tail -n 1 "$dir/dockerd.log")"
	say "version $(answers "unix://$dir/docker.sock") answers at unix://$dir/docker.sock"
}

# owned DIR: processes that have DIR on their command line, dockerd first: the
# containerd it started, and the shims of its containers.
owned() {
	for process in /proc/[0-9]*; do
		pid=${process#/proc/}
		[ "$pid" != $$ ] || continue
		case $({ tr '\0' ' ' <"$process/cmdline"; } 2>/dev/null) in
		*dockerd*"$1/"* | *containerd*"$1/"*) echo "$pid" ;;
		esac
	done
}

# gone PID: a zombie whose parent has not looked counts as gone.
gone() {
	[ ! -e "/proc/$1" ] || grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null
}

# running DIR: the process of the dockerd there, if it lives.
running() {
	pid=$(cat "$1/docker.pid" 2>/dev/null || true)
	[ -n "$pid" ] && { tr '\0' ' ' <"/proc/$pid/cmdline"; } 2>/dev/null | grep -qF "$1/" && echo "$pid"
}

# empty DIR: the engine removes its containers and networks, for nobody else
# knows them all. One that was killed is started once more for that.
empty() {
	host=unix://$1/docker.sock
	if pid=$(running "$1"); then
		kill -CONT "$pid"
	else
		"$0" private "$1" || return
	fi
	timeout 60 docker --host "$host" ps -aq | xargs -r timeout 60 docker --host "$host" rm -fv || return
	timeout 60 docker --host "$host" network prune -f
}

private_stop() {
	[ -d "$1" ] || {
		say "$1 is not there; nothing to do"
		return
	}
	dir=$(cd "$1" && pwd)
	empty "$dir" >/dev/null 2>&1 || say "its containers could not be removed; taking away what is to be seen"
	if pid=$(running "$dir"); then
		kill "$pid"
		await 20 gone "$pid" || kill -KILL "$pid"
	fi
	for signal in TERM KILL; do
		for pid in $(owned "$dir"); do
			kill -"$signal" "$pid" 2>/dev/null || true
			await 5 gone "$pid" || true
		done
	done
	ip link delete "$(bridge "$dir")" 2>/dev/null || true
	# The newest first: it may lie in, or hide, an older one.
	cut -d ' ' -f 2 /proc/mounts | grep -F "$dir/" | tac | while read -r mount; do
		umount "$mount" || umount -l "$mount"
	done
	rm -rf "$dir"
	say "the private engine in $dir is gone"
}

case ${1-} in
'') ensure ;;
private)
	[ $# -ge 2 ] || die "usage: hack/engine.sh private DIR [--live-restore]"
	shift
	private "$@"
	;;
private-stop)
	[ $# = 2 ] || die "usage: hack/engine.sh private-stop DIR"
	private_stop "$2"
	;;
*) die "usage: hack/engine.sh [private DIR [--live-restore] | private-stop DIR]" ;;
esac
