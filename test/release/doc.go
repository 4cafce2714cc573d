// Package release tests what hack/release.sh builds: the same bytes from the same
// commit, archives that hold what is installed, and programs of other architectures
// that run, under qemu-user, against the machine's engine.
//
// It builds for PODSTEAD_RELEASE_ARCHES, words of hack/release.sh; by default for
// this machine and the two kinds of ARM boards.
package release
