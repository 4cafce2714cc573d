#!/bin/sh
# Build the images that the tests and the demo run: busybox alone, made here
# and handed to the engine. No registry, no network. Images that are as this
# script would make them are left alone, so running it again takes no time.
#
# On Debian it needs busybox-static. DOCKER_HOST says which engine.
set -eu

busybox=$(command -v busybox) || {
	echo "images: no busybox here; on Debian: apt-get install busybox-static" >&2
	exit 1
}
arch=$(docker version --format '{{.Server.Arch}}')
recipe=$( (cat "$0" "$busybox") | sha256sum | cut -c 1-16)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

# root: the file system that all images share, built when first needed.
root() {
	[ ! -e "$stage/root" ] || return 0
	mkdir -p "$stage/root/bin" "$stage/root/etc" "$stage/root/tmp" "$stage/root/home" "$stage/root/data"
	chmod 1777 "$stage/root/tmp"
	cp "$busybox" "$stage/root/bin/busybox"
	chmod 0755 "$stage/root/bin/busybox"
	"$busybox" --list | while read -r applet; do
		[ "$applet" = busybox ] || ln -s busybox "$stage/root/bin/$applet"
	done
	printf 'root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/home:/bin/sh\n' >"$stage/root/etc/passwd"
	printf 'root:x:0:\nnogroup:x:65534:\n' >"$stage/root/etc/group"
}

# layer FILE NAME: packs a folder of the stage, the same bytes each time.
layer() {
	tar -C "$stage/$2" --owner 0 --group 0 --numeric-owner --mtime @0 --sort name -cf "$stage/image/$1" .
	sha256sum "$stage/image/$1" | cut -d ' ' -f 1
}

# image NAME CONFIG: one image with this configuration (JSON members), in the
# form of `docker save`. Its /version holds its tag.
image() {
	name=podstead-test/$1
	found=$(docker image inspect -f '{{index .Config.Labels "podstead-test.recipe"}}' "$name" 2>/dev/null || true)
	if [ "$found" = "$recipe" ]; then
		echo "images: $name is there"
		return
	fi
	root
	mkdir -p "$stage/image" "$stage/own"
	echo "${name##*:}" >"$stage/own/version"
	base=$(layer base.tar root)
	own=$(layer own.tar own)
	cat >"$stage/image/config.json" <<-EOF
		{
		  "architecture": "$arch", "os": "linux",
		  "config": {$2},
		  "rootfs": {"type": "layers", "diff_ids": ["sha256:$base", "sha256:$own"]}
		}
	EOF
	echo "[{\"Config\": \"config.json\", \"RepoTags\": [\"$name\"], \"Layers\": [\"base.tar\", \"own.tar\"]}]" >"$stage/image/manifest.json"
	tar -C "$stage/image" -c . | docker load -q >/dev/null
	echo "images: made $name"
}

path='"Env": ["PATH=/bin"]'
ours="\"podstead-test.recipe\": \"$recipe\""
labels="\"Labels\": {$ours}"

image busybox:1 "$path, $labels, \"Cmd\": [\"sh\"]"
image busybox:2 "$path, $labels, \"Cmd\": [\"sh\"]"

# What a pod's command and args do to an image's own.
image entrypoint:1 "$path, $labels, \"Entrypoint\": [\"echo\", \"e\"], \"Cmd\": [\"c\"]"

# Users that runAsNonRoot has to judge: a number, a name.
image user:number "$path, $labels, \"User\": \"1000:2000\", \"Cmd\": [\"id\"]"
image user:name "$path, $labels, \"User\": \"nobody\", \"Cmd\": [\"id\"]"

# A signal, variables and a working directory of its own.
image stopsignal:1 "$labels, \"StopSignal\": \"SIGUSR1\", \"WorkingDir\": \"/home\",
	\"Env\": [\"PATH=/opt/x:/bin\", \"COLOUR=green\"],
	\"Cmd\": [\"sh\", \"-c\", \"trap 'echo usr1; exit 0' USR1; trap 'echo term; exit 1' TERM; while :; do sleep 0.1; done\"]"

# Everything that must not leak into a pod: a health check, a volume, labels
# that would make a container another pod's or another agent's.
image leaky:1 "$path, \"Volumes\": {\"/data\": {}}, \"Cmd\": [\"sleep\", \"1000\"],
	\"Healthcheck\": {\"Test\": [\"CMD\", \"false\"], \"Interval\": 1000000000},
	\"Labels\": {$ours, \"io.kubernetes.pod.uid\": \"leaked\", \"io.kubernetes.pod.name\": \"leaked\",
		\"io.kubernetes.container.name\": \"POD\", \"io.kubernetes.sandbox.id\": \"leaked\",
		\"podstead.node-id\": \"leaked\", \"podstead.attempt\": \"7\", \"podstead.message-path\": \"/etc/shadow\"}"
