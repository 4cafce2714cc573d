// Package engine holds podstead to its promises while the engine fails it. Each
// test has a dockerd of its own (hack/engine.sh private), which it stops,
// restarts, hangs, kills or prunes at a chosen point of a pod's life; then it
// waits for the end that the pod would have come to without the fault: exactly
// the right processes, nothing twice, nothing stale, and `podstead status` that
// said 1 as long as the engine was away and says 0 after.
//
// A point is a line of the engine's event stream, so that faults strike while
// podstead is in the middle of its work. Nothing waits for time to pass: tests
// wait for conditions.
//
// The tests need the tag e2e, root, and what hack/engine.sh installs. A number
// like B164 names the case that a test covers; docs/survive.md lists them all.
package engine
