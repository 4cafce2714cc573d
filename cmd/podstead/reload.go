package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/events"
	"github.com/podstead/podstead/cli"
	"github.com/podstead/podstead/config"
)

// rereading is how the configuration is read again while the agent runs. Once it
// runs, the goroutine of its configWatch alone uses it.
type rereading struct {
	loader config.Loader

	length int    // of the version in force, in bytes
	told   string // of the sources that are about to end
}

// reread puts the sources of a version of the configuration in force, without
// touching those that stay as they are. An error means that all stays as it was;
// it is errShrinks when the version is to stand for a while first, unless sure.
func (n *node) reread(ctx context.Context, v configVersion, sure bool) error {
	loader := n.reload.loader
	loader.Read = func(string) ([]byte, error) { return v.data, v.err }
	next, warnings, err := loader.Load()
	before, _ := n.setup.configuration()
	if err == nil && next.File == "" && before.File != "" {
		err = fmt.Errorf("%s is gone", before.File) // deleting it is not how its sources are given up
	}
	if err != nil {
		return err
	}
	effective := n.cfg.WithSourcesOf(next)
	gone := n.tellGone(ctx, effective, sure)
	if !sure && (gone || len(v.data) < n.reload.length) {
		return errShrinks
	}
	if err := n.gatherer.Apply(ctx, n.specs(effective)); err != nil {
		return err
	}
	if err := n.merger.Configure(ctx, n.members(effective)); err != nil {
		return err
	}
	n.sourcesChanged.turn()
	n.reload.length, n.reload.told = len(v.data), ""
	wait := config.Pending(n.cfg, next)
	n.setup.take(effective, wait, time.Now())
	n.setup.refuse(nil)
	for _, w := range warnings {
		n.log.Warn("configuration", "err", w)
	}
	n.tellTaken(effective, wait)
	return nil
}

// tellGone names, once and before anything happens, the sources that next does
// not have any more and how many pods may end with them. It reports whether there
// are any.
func (n *node) tellGone(ctx context.Context, next config.Config, now bool) bool {
	stay := config.Names(next.Sources())
	var gone []string
	for _, name := range config.Names(n.setup.sources()) {
		if !slices.Contains(stay, name) {
			gone = append(gone, name)
		}
	}
	told := strings.Join(gone, " ")
	if told == n.reload.told || told == "" {
		n.reload.told = told
		return told != ""
	}
	n.reload.told = told
	when := "now"
	if !now {
		when = "in " + configShrink.String() + " unless the file changes until then"
	}
	n.recorder.Event(events.Node(n.id.Name), v1.EventTypeWarning, events.SourcesGone, fmt.Sprintf(
		"The newest configuration gives up %s: %s. What no other source wants of their pods ends; taken over %s.",
		cli.Count(len(gone), "source"), strings.Join(n.withPods(ctx, gone), ", "), when))
	return true
}

// withPods are the names of sources with how many pods run from each.
func (n *node) withPods(ctx context.Context, names []string) []string {
	all, err := n.merger.Statuses(ctx)
	if err != nil {
		return names // all is about to end
	}
	var texts []string
	for _, s := range all {
		if slices.Contains(names, s.Source) {
			texts = append(texts, fmt.Sprintf("%s (%s)", s.Source, cli.Count(len(s.Pods)-len(s.Losers), "pod")))
		}
	}
	return texts
}

// tellTaken says what is in force now and what is not yet.
func (n *node) tellTaken(c config.Config, wait []string) {
	text := "The configuration has been read again; sources: " + strings.Join(config.Names(c.Sources()), ", ") + "."
	if len(wait) > 0 {
		text += " At the next start takes effect: " + strings.Join(wait, ", ") + "."
	}
	n.recorder.Event(events.Node(n.id.Name), v1.EventTypeNormal, events.ConfigurationTaken, text)
}

// refuseConfiguration says, once for each fault, that the configuration stays as
// it was.
func (n *node) refuseConfiguration(err error) {
	if errors.Is(err, context.Canceled) || !n.setup.refuse(err) {
		return
	}
	n.recorder.Event(events.Node(n.id.Name), v1.EventTypeWarning, events.ConfigurationFault,
		"The newest configuration has no effect, what was in force stays: "+strings.ReplaceAll(err.Error(), "\n", "; "))
}

// configWatch is what calls reread.
func (n *node) configWatch() *configWatch {
	path := n.reload.loader.Path()
	read := func() configVersion { return readConfigVersion(path) }
	n.reload.length = len(read().data)
	return &configWatch{path: path, asked: n.hangup, read: read, reread: n.reread, refuse: n.refuseConfiguration, log: n.log}
}
