package main

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	allowPrivileged()
	if os.Getenv("PODSTEAD_TEST_MAIN") != "" { // this binary is podstead itself, for tests of a whole process
		main()
	}
	goleak.VerifyTestMain(m)
}
