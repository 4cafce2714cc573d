package docker

import (
	goruntime "runtime"

	"golang.org/x/sys/unix"
)

// onThrowawayThread runs f on an operating system thread that ends with it, so
// that what f changes about its thread, a namespace for one, reaches nobody else.
// It returns when f has. The first thread is not used: it cannot end, and what
// /proc/self shows is what it sees.
func onThrowawayThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		goruntime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			onThrowawayThread(f) // on another one, since this one is taken
			goruntime.UnlockOSThread()
			return
		}
		f() // never unlocked: the thread ends with the goroutine
	}()
	<-done
}
