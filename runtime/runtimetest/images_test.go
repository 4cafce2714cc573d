package runtimetest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/podstead/podstead/runtime"
)

func TestImagesArePulled(t *testing.T) {
	bubble(t, func(l *lamp) {
		ctx, flaky := l.Context(), errors.New("503")
		l.Serve("lamp", Remote{Takes: 4 * time.Second, Errs: []error{flaky}, Image: runtime.Image{Size: 400, User: "1000"}})
		_, err := l.Image(ctx, "lamp")
		l.wantErr(err, runtime.ErrNotFound)
		_, err = l.Pull(ctx, runtime.ImageRequest{Ref: "lamp"})
		l.wantErr(err, flaky)

		begin, last := time.Now(), runtime.Progress{}
		pulled, err := l.Pull(ctx, runtime.ImageRequest{Ref: "lamp", Progress: func(p runtime.Progress) { last = p }})
		l.must(err)
		if time.Since(begin) != 4*time.Second || last.Current != 400 || pulled.User != "1000" {
			t.Errorf("pulled %+v in %v, last told %+v", pulled, time.Since(begin), last)
		}
		same, err := l.Image(ctx, "docker.io/library/lamp:latest")
		l.must(err)
		if same.ID != pulled.ID {
			t.Errorf("another spelling has %s, want %s", same.ID, pulled.ID)
		}
		l.RemoveImage("lamp:latest")
		_, err = l.Image(ctx, "lamp")
		l.wantErr(err, runtime.ErrNotFound)
	})
}

func TestPullsThatDoNotWork(t *testing.T) {
	bubble(t, func(l *lamp) {
		_, err := l.Pull(l.Context(), runtime.ImageRequest{Ref: "Not/A/Name:x"})
		l.wantErr(err, runtime.ErrInvalidImageName)
		if _, err = l.Pull(l.Context(), runtime.ImageRequest{Ref: "unknown"}); err == nil {
			t.Error("pulled what is nowhere")
		}
		l.Serve("big", Remote{Takes: time.Hour})
		ctx, cancel := context.WithTimeout(l.Context(), time.Minute)
		defer cancel()
		_, err = l.Pull(ctx, runtime.ImageRequest{Ref: "big"})
		l.wantErr(err, context.DeadlineExceeded)
		_, err = l.Image(l.Context(), "big")
		l.wantErr(err, runtime.ErrNotFound)
	})
}

func TestALogIsFollowed(t *testing.T) {
	bubble(t, func(l *lamp) {
		l.Behave("web", Exits(3*time.Second, 0).Printing("hello"))
		_, web := l.up()
		time.AfterFunc(time.Second, func() { l.Print(web, "still here") })
		time.AfterFunc(2*time.Second, func() { l.PrintError(web, "leaving") })
		var out, errs strings.Builder
		l.must(l.Logs(l.Context(), web, runtime.LogOptions{Follow: true, Timestamps: true}, &out, &errs))
		want := "2000-01-01T00:00:00Z hello\n2000-01-01T00:00:01Z still here\n"
		if out.String() != want || errs.String() != "2000-01-01T00:00:02Z leaving\n" {
			t.Errorf("log is %q and %q, want %q", out.String(), errs.String(), want)
		}
		tail := int64(1)
		out.Reset()
		l.must(l.Logs(l.Context(), web, runtime.LogOptions{Tail: &tail}, &out, &out))
		if out.String() != "leaving\n" {
			t.Errorf("the last line is %q", out.String())
		}
	})
}
