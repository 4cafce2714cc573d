#!/usr/bin/env bash
# Shows podstead at work in a minute: a pod is dropped into a folder, edited,
# crashed, and removed, and the agent is killed in between. Nothing stays behind.
# `make demo` brings the engine, the image and the binary first.
set -euo pipefail
cd "$(dirname "$0")/.."

podstead=$PWD/bin/podstead
node=demo
work=$(mktemp -d "${TMPDIR:-/tmp}/podstead-demo-XXXXXX")
manifests=$work/manifests
# The client commands find the agent by its root-dir.
export PODSTEAD_ROOT_DIR=$work/root
mkdir -p "$manifests"
agent=
networks=$(docker network ls -q --no-trunc)
began=$SECONDS

if [ -t 1 ]; then bold=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m'; else bold='' dim='' plain=''; fi
step() { printf '\n%s== %s%s\n' "$bold" "$*" "$plain"; }
note() { printf '%s   %s%s\n' "$dim" "$*" "$plain"; }
# Shows a command and what it prints.
show() { printf '%s$ %s%s\n' "$bold" "${*/#$podstead/podstead}" "$plain"; "$@"; }

clean_up() {
	status=$?
	trap - EXIT INT TERM
	if [ -n "$agent" ]; then { kill -9 "$agent" && wait "$agent"; } 2>/dev/null || true; fi
	ours -a -q | xargs -r docker rm -f -v >/dev/null 2>&1 || true
	docker network ls -q --no-trunc --filter name=podstead | grep -vxF "${networks:-none}" | xargs -r docker network rm >/dev/null 2>&1 || true
	if [ "$status" -ne 0 ] && [ -s "$work/podstead.log" ]; then
		echo "the demo stopped early; the agent's last words:" >&2
		tail -n 20 "$work/podstead.log" >&2
	fi
	rm -rf "$work"
	exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

ours() { docker ps --no-trunc --filter "label=podstead.node=$node" "$@"; }
apps() { ours --filter label=io.kubernetes.container.name="$1" -q; }

# wait_for WHAT COMMAND...: tries a command until it succeeds, for 30 s.
wait_for() {
	local what=$1 deadline=$((SECONDS + 30))
	shift
	until "$@" >/dev/null 2>&1; do
		if [ $SECONDS -ge $deadline ]; then echo "gave up waiting for $what" >&2; exit 1; fi
		sleep 0.05
	done
}

answers() { [ "$(page)" = "$1" ]; }
page() {
	exec 3<>"/dev/tcp/127.0.0.1/$port" || return 1
	printf 'GET / HTTP/1.0\r\n\r\n' >&3
	sed '1,/^\r*$/d' <&3
	exec 3>&-
} 2>/dev/null
show_page() { printf '%s$ curl http://127.0.0.1:%s/%s\n%s\n' "$bold" "$port" "$plain" "$(page)"; }

start_agent() {
	"$podstead" run --pod-manifest-path "$manifests" --hostname-override $node >>"$work/podstead.log" 2>&1 &
	agent=$!
	disown "$agent" # so that bash does not report its violent end
	wait_for "the agent" up
}
up() { local code=0; "$podstead" get pods || code=$?; [ $code -eq 0 ]; }

# Whole manifests only: written beside, then renamed into place.
put() { sed "s/hostPort: 8080/hostPort: $port/; $1" examples/web.yaml >"$work/web.yaml"; mv "$work/web.yaml" "$manifests/web.yaml"; }

port=8080
while (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((port + 1)); done

step "Start the agent on an empty folder"
note "podstead run --pod-manifest-path $manifests --hostname-override $node"
start_agent
show "$podstead" get pods

step "Drop a pod of two containers into the folder"
note "cp examples/web.yaml $manifests/   (host port $port)"
put ''
wait_for "the page" answers "Hello, world"
show_page
show "$podstead" get pods -o wide

step "Edit it: another greeting"
put 's/value: world/value: new world/'
wait_for "the new page" answers "Hello, new world"
printf '  - value: world\n  + value: new world\n'
show_page
note "the new pod was made ready while the old one served; here is why it acted:"
reason() { "$podstead" get events web | sed -n '1p; /Replacing/p'; }
printf '%s$ podstead get events web | grep Replacing%s\n' "$bold" "$plain"
reason

step "Crash it: kill -9 of its web server"
docker kill --signal KILL "$(apps httpd)" >/dev/null
restarted() { "$podstead" get pods | awk 'NR == 2 {exit !($4 >= 1 && $2 == "2/2")}'; }
wait_for "the restart" restarted
wait_for "the page" answers "Hello, new world"
show "$podstead" get pods

step "Kill -9 the agent: the pod runs on"
before=$(ours -q | sort)
kill -9 "$agent"
while kill -0 "$agent" 2>/dev/null; do sleep 0.02; done
agent=
show_page
note "start it again: it takes up what runs"
start_agent
ready() { "$podstead" get pods | grep -q '2/2 *Running'; }
wait_for "the pod to be adopted" ready
show "$podstead" get pods
if [ "$before" != "$(ours -q | sort)" ]; then echo "the containers are not the same" >&2; exit 1; fi
note "the same containers as before: $(ours --format '{{.Names}}' | wc -l) of them"

step "Delete the file"
rm "$manifests/web.yaml"
gone() { [ -z "$(ours -q)" ]; }
wait_for "the pod to go" gone
show "$podstead" get pods
show "$podstead" status || true

printf '\n%sDone in %d s.%s Next: README.md, the tour.\n' "$bold" "$((SECONDS - began))" "$plain"
