#!/bin/sh
# Fuzz every target for FUZZTIME each (default 30s), one after the other.
#
#   hack/fuzz.sh [PATTERN]     those whose names match
#
# `go test -fuzz` instruments all that a test links, here hundreds of packages of
# Kubernetes, which takes an hour. This instruments podstead's own packages and the
# parsers of YAML, canonical JSON and packs, on which nothing of Kubernetes' stands: its
# packages come from the build cache.
#
# An input that fails is written to the package's testdata/fuzz, is a test from then
# on, and is to be committed. What was found interesting is kept in bin/fuzz, so that
# the next run goes on from there.
set -eu
cd "$(dirname "$0")/.."
here=$PWD only=${1:-.} time=${FUZZTIME:-30s} failed=
mkdir -p bin/fuzz

for package in $(grep -rlE --include='*_test.go' '^func Fuzz' . | xargs -n 1 dirname | sort -u); do
	targets=$(sed -n 's/^func \(Fuzz[A-Za-z0-9]*\)(f \*testing\.F).*/\1/p' "$package"/*_test.go | grep -E "$only") || continue
	program=$here/bin/fuzz/$(echo "${package#./}" | tr / -).test
	set --
	for pattern in github.com/podstead/podstead go.yaml.in/yaml/v4 github.com/gowebpki/jcs github.com/go-git/go-git/v5/plumbing/format; do
		set -- "$@" "-gcflags=$pattern/...=-d=libfuzzer"
	done
	go test -c "$@" -o "$program" "$package"
	for target in $targets; do
		log=$here/bin/fuzz/$target.log
		if (cd "$package" && "$program" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "$time" \
			-test.fuzzminimizetime 100x -test.fuzzcachedir "$here/bin/fuzz/corpus" >"$log" 2>&1); then
			result=$(sed -n 's/^fuzz: elapsed: \([^,]*\), execs: \([0-9]*\) .*total: \([0-9]*\)).*/\2 inputs in \1, \3 kept/p' "$log" | tail -n 1)
		else
			failed="$failed $target"
			result="FAILED, see $log"
		fi
		echo "$package $target: ${result:-FAILED, see $log}"
	done
done
[ -z "$failed" ] || {
	echo "fuzz: failed:$failed" >&2
	exit 1
}
