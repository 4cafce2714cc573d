package runtimetest

import (
	"strings"
	"testing"
	"time"
)

// Env is what Contract runs against: an image and its command lines for the
// behaviours that it needs.
type Env struct {
	Image     string // present locally
	Missing   string // a valid reference that is not present
	Namespace string // of the pods that are made
	HostPort  int32  // free on the host
	Commands  Commands
	// Bubble runs one case; nil runs it as it is. synctest.Test fits.
	Bubble func(t *testing.T, run func(t *testing.T))
}

// Commands are command lines.
type Commands struct {
	Succeed []string // exits with 0
	Fail    []string // exits with 3
	Deaf    []string // runs for ever and does not heed TERM
	Trap    []string // prints ready, runs for ever, exits with 7 on TERM
	Print   []string // prints one and two to stdout, oops to stderr, and exits with 0
	Nope    []string // does not exist
	// Run inside a container.
	Speak []string // prints one to stdout, oops to stderr, and exits with 3
	Echo  []string // writes what it reads
	Wait  []string // prints begun and runs for ever
	Tell  []string // container: prints tick again and again
}

// Busybox is the environment of an image that has a shell.
func Busybox(image string) Env {
	return Env{
		Image:     image,
		Missing:   "podstead-test/no-such-image:1",
		Namespace: "podstead-contract",
		HostPort:  39431,
		Commands: Commands{
			Succeed: []string{"sh", "-c", "exit 0"},
			Fail:    []string{"sh", "-c", "exit 3"},
			// The first process of a container gets no signal that it does not catch.
			Deaf:  []string{"sleep", "100000"},
			Trap:  []string{"sh", "-c", "trap 'exit 7' TERM; echo ready; sleep 100000 & wait"},
			Print: []string{"sh", "-c", "echo one; echo two; echo oops >&2"},
			Nope:  []string{"/nope"},
			Speak: []string{"sh", "-c", "echo one; echo oops >&2; exit 3"},
			Echo:  []string{"cat"},
			Wait:  []string{"sh", "-c", "echo begun; exec sleep 100000"},
			Tell:  []string{"sh", "-c", "while :; do echo tick; sleep 0.1; done"},
		},
	}
}

// Learn makes the fake behave as the environment's image and commands do.
func (f *Fake) Learn(env Env) {
	f.AddImage(env.Image)
	f.Install(strings.Join(env.Commands.Speak, " "), Ends(3, "one\n", "oops\n"))
	f.Install(strings.Join(env.Commands.Echo, " "), Echo())
	f.Install(strings.Join(env.Commands.Wait, " "), Waits("begun\n"))
	for _, known := range []struct {
		command []string
		process Process
	}{
		{env.Commands.Succeed, Exits(0, 0)},
		{env.Commands.Fail, Exits(0, 3)},
		{env.Commands.Deaf, Deaf()},
		{env.Commands.Trap, Traps(10*time.Millisecond, 7).Printing("ready")},
		{env.Commands.Print, Exits(0, 0).Printing("one", "two").Complaining("oops")},
		{env.Commands.Nope, CannotRun(127)},
		{env.Commands.Tell, Forever().Repeating(100*time.Millisecond, "tick")},
	} {
		f.Behave(strings.Join(known.command, " "), known.process)
	}
}
