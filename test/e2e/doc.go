// Package e2e holds podstead to its promises on a real Docker engine, from the
// outside: each test runs the program as its user does, with a root-dir, a
// manifest folder and a node name of its own, so that several run side by side
// on one engine. What happens is read from the agent's socket and from the
// engine itself; what the engine did, and in which order, is read from the
// engine's events. Nothing waits for time to pass: tests wait for conditions.
//
// Every test ends alike, whatever it is about: what podstead shows is held
// against `docker ps`, the manifests are taken away, and then nothing of the
// node may be left: no container, mount, directory or process.
//
// The tests need the tag e2e, root, and the images of hack/images.sh. A number
// like B05 names the case that a test covers; docs/survive.md lists them all.
package e2e
