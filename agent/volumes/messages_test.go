package volumes

import (
	"os"
	"regexp"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestMessageFiles(t *testing.T) {
	defer unix.Umask(unix.Umask(0o077))
	v := New(Config{Root: t.TempDir()})
	name := regexp.MustCompile(`^` + regexp.QuoteMeta(v.cfg.Root+"/pods/u1/containers/main") + `/[0-9a-f]{8}$`)
	var made []string
	began := time.Now()
	for i := range 5 {
		path, err := v.MessageFile("u1", "main")
		if err != nil {
			t.Fatal(err)
		}
		if !name.MatchString(path) || mode(t, path) != 0o666 {
			t.Errorf("%s of mode %v", path, mode(t, path))
		}
		when := began.Add(time.Duration(i) * time.Second)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
		made = append(made, path)
	}
	for _, old := range made[:2] {
		gone(t, old)
	}
	for _, kept := range made[2:] {
		there(t, kept)
	}
}
