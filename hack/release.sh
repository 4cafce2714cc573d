#!/bin/sh
# Build a release of what is committed: for each architecture an archive with the
# static program, and its SBOM; and the checksums of all.
#
#   hack/release.sh [-o DIR] [ARCH...]     ARCH: amd64 arm64 armv7 riscv64; DIR: dist
#
# The same commit and the same Go give the same bytes, wherever they are built: no
# path, time, user or state of the work tree gets into them. VERSION overrides what
# `git describe` says.
set -eu
umask 022
export LC_ALL=C TZ=UTC

cd "$(dirname "$0")/.."
dist=dist
if [ "${1-}" = -o ]; then
	dist=$2
	shift 2
fi
[ $# -gt 0 ] || set -- amd64 arm64 armv7 riscv64
mkdir -p "$dist"
dist=$(cd "$dist" && pwd)

version=${VERSION:-$(git describe --tags --always)}
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
[ -z "$(git status --porcelain)" ] || echo "release: building $version as committed, without what has changed since" >&2

sbom=$(cd hack/tools/sbom && GOFLAGS= go tool -n cyclonedx-gomod)
# bill PROGRAM: its SBOM, as of the commit's time, and without the hashes of the tool
# that writes it, which is another on each machine.
bill() {
	"$sbom" bin -json -std -noserial -notimestamp -version "$version" -output "$work/bill" "$1"
	awk -v time="$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)" '
		/^  "metadata": {/ { print; print "    \"timestamp\": \"" time "\","; next }
		/^    "tools": / { tools = 1 }
		/^    "component": / { tools = 0 }
		tools && /"hashes": / { cut = 1 }
		!cut
		/]/ { cut = 0 }' "$work/bill"
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/source"
git archive HEAD | tar -x -C "$work/source"
cd "$work/source"

# What of the environment would change the code.
unset GOFLAGS GOEXPERIMENT GOFIPS140
export GOWORK=off GOOS=linux CGO_ENABLED=0 GOAMD64=v1 GOARM64=v8.0 GOARM=7 GORISCV64=rva20u64

for arch; do
	name=podstead-$version-linux-$arch
	echo "release: $name"
	mkdir "$work/$name"
	GOARCH=${arch%v7} go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$version" \
		-o "$work/$name/podstead" ./cmd/podstead
	cp LICENSE README.md packaging/podstead.service "$work/$name/"
	chmod 0755 "$work/$name/podstead"
	bill "$work/$name/podstead" >"$dist/$name.cdx.json"
	tar -cf "$work/$name.tar" -C "$work" --format=ustar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" "$name"
	gzip -9n <"$work/$name.tar" >"$dist/$name.tar.gz"
	rm -r "${work:?}/$name" "$work/$name.tar"
done
cd "$dist"
sha256sum podstead-"$version"-linux-* >SHA256SUMS
