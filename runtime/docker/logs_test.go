package docker

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/podstead/podstead/runtime"
)

func TestLogsOptions(t *testing.T) {
	tail, since := int64(0), time.Unix(100, 5)
	got := logsOptions(runtime.LogOptions{Follow: true, Timestamps: true, Tail: &tail, Since: &since})
	want := container.LogsOptions{ShowStdout: true, ShowStderr: true, Follow: true, Timestamps: true, Tail: "0", Since: "100.000000005"}
	if got != want {
		t.Errorf("got %+v", got)
	}
	if got := logsOptions(runtime.LogOptions{}); got.Tail != "" || got.Since != "" {
		t.Errorf("got %+v", got)
	}
}

func TestLimitIsShared(t *testing.T) {
	var out, errOut bytes.Buffer
	left := int64(5)
	stdout, stderr := limited{&out, &left}, limited{&errOut, &left}
	if n, err := stdout.Write([]byte("abc")); n != 3 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := stderr.Write([]byte("defg")); n != 2 || !errors.Is(err, errEnough) {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := stdout.Write([]byte("h")); n != 0 || !errors.Is(err, errEnough) {
		t.Errorf("%d, %v", n, err)
	}
	if out.String() != "abc" || errOut.String() != "de" {
		t.Errorf("%q, %q", out.String(), errOut.String())
	}
}
