// Package rig is what the tests and benchmarks of the program share: the program
// itself, built or given; processes that run beside a test; an engine as
// `docker` sees it, without podstead between; and waiting for a condition. It
// judges nothing: each suite says what must hold. Nothing here keeps a goroutine
// but Process and Follow, which say when theirs ends.
package rig
