package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/podstead/podstead/agent/api"
	"github.com/podstead/podstead/sources"
)

// What the watch does with a file that changes, second by second.
func TestWhenAVersionOfTheConfigurationIsBelieved(t *testing.T) {
	written := configVersion{err: fmt.Errorf("c.yaml %w", sources.ErrBeingWritten)}
	has := func(text string) configVersion { return configVersion{data: []byte(text), sure: true} }
	unsure := configVersion{data: []byte("all"), sure: false}
	type step struct {
		at    float64 // seconds since the first
		file  configVersion
		asked bool
		want  string // what has happened by then, this step included
	}
	cases := []struct {
		name  string
		steps []step
	}{
		{"whole", []step{{0, has("all"), false, ""}, {0.2, has("all"), false, "take all"}, {9, has("all"), false, "take all"}}},
		{"unchanged", []step{{0, has("old"), false, ""}, {60, has("old"), false, ""}}},
		{"in pieces, open all the while", []step{{0, written, false, ""}, {0.9, written, false, ""}, {1, written, false, "refuse being written"},
			{600, written, false, "refuse being written"}, {601, has("all"), false, "refuse being written"}, {601.2, has("all"), false, "refuse being written, take all"}}},
		{"closed without a change", []step{{0, written, false, ""}, {1, written, false, "refuse being written"}, {2, has("old"), false, "refuse being written"},
			{3, has("old"), false, "refuse being written, take old"}}},
		{"in pieces, closed in between", []step{{0, has("less 1"), false, ""}, {4, has("less 1"), false, ""}, {4.5, has("less 2"), false, ""}, {9, has("less 2"), false, ""},
			{9.2, has("all"), false, ""}, {9.4, has("all"), false, "take all"}}},
		{"meant to be less", []step{{0, has("less 1"), false, ""}, {4.9, has("less 1"), false, ""}, {5, has("less 1"), false, "take less 1"}}},
		{"less, and asked for", []step{{0, has("less 1"), true, "take less 1"}}},
		{"asked for while it is written", []step{{0, written, true, ""}, {0.2, written, false, ""}, {0.4, has("less 1"), false, "take less 1"}}},
		{"unchanged and asked for", []step{{0, has("old"), true, "take old"}, {1, has("old"), false, "take old"}}},
		{"where the kernel cannot tell", []step{{0, unsure, false, ""}, {1.9, unsure, false, ""}, {2, unsure, false, "take all"}}},
		{"broken", []step{{0, has("bad"), false, ""}, {0.9, has("bad"), false, ""}, {1, has("bad"), false, "refuse bad"}, {9, has("bad"), false, "refuse bad"}}},
		{"broken for a moment", []step{{0, has("bad"), false, ""}, {0.9, has("all"), false, ""}, {1.2, has("all"), false, "take all"}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var did []string
			file := has("old")
			w := &configWatch{
				read: func() configVersion { return file },
				reread: func(_ context.Context, v configVersion, sure bool) error {
					text := string(v.data)
					switch {
					case text == "bad":
						return errors.New("bad")
					case strings.HasPrefix(text, "less") && !sure:
						return errShrinks
					}
					did = append(did, "take "+text)
					return nil
				},
				refuse: func(err error) {
					text := "refuse " + err.Error()
					if errors.Is(err, sources.ErrBeingWritten) {
						text = "refuse being written"
					}
					if !slices.Contains(did, text) {
						did = append(did, text)
					}
				},
				seen: has("old").id(),
			}
			for i, s := range c.steps {
				file, w.urgent = s.file, w.urgent || s.asked
				again := w.look(t.Context(), time.Unix(1e9, int64(s.at*1e9)))
				if got := strings.Join(did, ", "); got != s.want || again <= 0 {
					t.Errorf("step %d: %q, want %q; next look in %s", i, got, s.want, again)
				}
			}
		})
	}
}

// A file that is saved in pieces is a good configuration at each of them. Nothing
// ends meanwhile, not even when somebody asks for it to be read.
func TestAConfigurationThatIsBeingWrittenEndsNothing(t *testing.T) {
	b, p := newBench(t), newPage(t, manifest("url", ""))
	b.drop("folder.yaml", manifest("folder", ""))
	b.configure(listed(b.folderSource("local"), p.source("page")))
	client, _ := b.start()
	first := b.ready(client, "folder", "url")

	file, err := os.Create(b.out.reload.loader.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(listed(b.folderSource("local"))); err != nil {
		t.Fatal(err)
	}
	b.hangup()
	b.until("it is told that somebody writes", func() bool {
		s, err := client.Status(t.Context())
		return err == nil && strings.Contains(s.Configuration.Error, "is being written")
	})
	same(t, first, b.ready(client, "folder", "url"))
	if _, err := file.WriteString(p.source("page") + "# done\n"); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	b.until("it is taken over", func() bool {
		s, err := client.Status(t.Context())
		return err == nil && s.Configuration.Error == ""
	})
	same(t, first, b.ready(client, "folder", "url"))
	if all, err := client.Sources(t.Context()); err != nil || slices.ContainsFunc(all, func(s api.Source) bool { return s.Retired }) {
		t.Errorf("%v, %v", all, err)
	}
}

// What a configuration gives up is named before it ends, and given a moment in
// which the rest of a file may come.
func TestSourcesThatAreGivenUpAreNamedBefore(t *testing.T) {
	b, p := newBench(t), newPage(t, manifest("url", ""))
	b.drop("folder.yaml", manifest("folder", ""))
	b.configure(listed(b.folderSource("local"), p.source("page")))
	client, _ := b.start()
	first := b.ready(client, "folder", "url")
	b.configure(listed(b.folderSource("local")))
	b.until("it is named", func() bool {
		_, out, _ := b.command("get", "events")
		return strings.Contains(out, "gives up 1 source: page (1 pod)") && strings.Contains(out, "in 5s unless the file changes")
	})
	same(t, first, b.ready(client, "folder", "url"))
	b.configure(listed(b.folderSource("local"), p.source("page")) + "# the rest\n")
	b.until("the rest is taken over", func() bool {
		_, out, _ := b.command("get", "events")
		return strings.Contains(out, "ConfigurationTaken")
	})
	same(t, first, b.ready(client, "folder", "url"))
}

// A SIGHUP reads the configuration again, whatever the kernel told.
func TestTheConfigurationIsReadWhenAskedFor(t *testing.T) {
	asked, read := make(chan os.Signal), make(chan struct{})
	w := &configWatch{asked: asked, log: newBench(t).out.logger, read: func() configVersion { return configVersion{} },
		reread: func(context.Context, configVersion, bool) error { read <- struct{}{}; return nil }}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	for range 2 {
		asked <- os.Interrupt
		<-read
	}
	cancel()
	<-ended
}
