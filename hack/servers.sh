#!/bin/sh
# What tests run beside podstead: git's http-backend, sshd and a registry on
# loopback, each on a port that is free then, a log shipper, and what shows a
# release to work: qemu-user for the programs of other architectures, systemd to read
# the unit. On Debian or Ubuntu, as root, what is missing is installed; none is left running, and none is
# started at boot.
set -eu

say() { echo "servers: $*"; }

# lacking: the packages whose programs are not there.
lacking() {
	[ -x "$(git --exec-path 2>/dev/null)/git-http-backend" ] || printf 'git '
	[ -x /usr/sbin/sshd ] && command -v ssh-keygen >/dev/null || printf 'openssh-server openssh-client '
	command -v docker-registry >/dev/null || printf 'docker-registry '
	command -v htpasswd >/dev/null || printf 'apache2-utils '
	[ -x /usr/sbin/rsyslogd ] || printf 'rsyslog '
	command -v qemu-aarch64-static >/dev/null || printf 'qemu-user-static '
	command -v systemd-analyze >/dev/null || printf 'systemd '
}

packages=$(lacking)
if [ -z "$packages" ]; then
	say "all there; nothing to do"
	exit
fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
	say "not installed, and installing takes root and apt-get: $packages" >&2
	exit 1
fi
say "installing from the distribution: $packages"
export DEBIAN_FRONTEND=noninteractive

# A package starts its service when this file does not say no.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
	printf '#!/bin/sh\nexit 101\n' >"$policy"
	chmod 0755 "$policy"
	trap 'rm -f "$policy"' EXIT
fi
apt-get update -qq
# shellcheck disable=SC2086 # a list of words
apt-get install -y -qq --no-install-recommends $packages
if [ -d /run/systemd/system ]; then # where it would start them at the next boot
	for package in $packages; do
		case $package in
		openssh-server) systemctl disable ssh.service ssh.socket ;;
		docker-registry) systemctl disable docker-registry.service ;;
		rsyslog) systemctl disable rsyslog.service ;;
		esac
	done
fi
