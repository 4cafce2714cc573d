#!/bin/sh
# Build the pause program for every architecture, or check the committed ones.
#
#   hack/pause.sh         build; writes runtime/docker/pause/bin/{pause-ARCH,BUILD}
#   hack/pause.sh check   build aside and compare, where the recorded compiler is
#                         installed; each architecture is listed as same, skip or
#                         DIFFERS. Exit 1 if any differs.
#
# On Debian: gcc gcc-aarch64-linux-gnu gcc-arm-linux-gnueabihf gcc-riscv64-linux-gnu
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
source=$here/runtime/docker/pause/pause.c
bin=$here/runtime/docker/pause/bin
record=$bin/BUILD

# arch, compiler, and what makes its code run on the oldest boards of the kind.
targets() {
	cat <<-EOF
		amd64 x86_64-linux-gnu-gcc -mgeneral-regs-only
		arm64 aarch64-linux-gnu-gcc -mgeneral-regs-only
		arm arm-linux-gnueabihf-gcc -marm -march=armv6 -mfloat-abi=soft
		riscv64 riscv64-linux-gnu-gcc -march=rv64imac -mabi=lp64 -fno-pic
	EOF
}

# version COMPILER: what decides the bytes, compiler and linker, on one line.
version() {
	command -v "$1" >/dev/null || return 1
	ld=$("$1" -print-prog-name=ld)
	printf '%s | %s\n' "$("$1" --version | head -n 1)" "$("$ld" --version | head -n 1)"
}

# compile OUTPUT COMPILER FLAG...
compile() {
	output=$1 compiler=$2
	shift 2
	"$compiler" "$@" -Os -Wall -Wextra -Werror -std=gnu11 \
		-ffreestanding -fno-stack-protector -fno-asynchronous-unwind-tables \
		-fno-pie -no-pie -static -nostdlib -s \
		-Wl,--build-id=none -Wl,-z,noexecstack -Wl,-z,norelro -Wl,-z,noseparate-code \
		-Xlinker --no-dynamic-linker -fno-ident \
		-o "$output" "$source"
}

hash() { sha256sum "$1" | cut -d ' ' -f 1; }

build() {
	mkdir -p "$bin"
	targets | while read -r arch compiler flags; do
		# shellcheck disable=SC2086 # flags are words
		compile "$bin/pause-$arch" "$compiler" $flags
		printf '%s %s %s\n' "$arch" "$(hash "$bin/pause-$arch")" "$(version "$compiler")"
	done >"$record.new"
	mv "$record.new" "$record"
	cat "$record"
}

check() {
	aside=$(mktemp -d)
	trap 'rm -rf "$aside"' EXIT
	targets | while read -r arch compiler flags; do
		committed=$(sed -n "s/^$arch //p" "$record")
		sum=${committed%% *} recorded=${committed#* }
		if [ "$(hash "$bin/pause-$arch")" != "$sum" ]; then
			echo "$arch: DIFFERS: the binary is not the recorded one"
		elif [ "$(version "$compiler" || echo none)" != "$recorded" ]; then
			echo "$arch: skip: built with $recorded, which is not installed"
		else
			# shellcheck disable=SC2086 # flags are words
			compile "$aside/pause-$arch" "$compiler" $flags
			cmp -s "$aside/pause-$arch" "$bin/pause-$arch" &&
				echo "$arch: same" || echo "$arch: DIFFERS: a rebuild gives other bytes"
		fi
	done >"$aside/result"
	cat "$aside/result"
	! grep -q DIFFERS "$aside/result"
}

case ${1-build} in
build) build ;;
check) check ;;
*)
	echo "usage: hack/pause.sh [check]" >&2
	exit 2
	;;
esac
