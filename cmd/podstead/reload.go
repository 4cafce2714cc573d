package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/events"
)

// rereading is how the configuration is read again while the agent runs.
type rereading struct {
	path string // of the configuration file, there or not; "" for none
	load func() (Config, []string, error)
}

// reread puts the sources of the newest configuration in force, without touching
// those that stay as they are. An error means that all stays as it was.
func (n *node) reread(ctx context.Context) error {
	next, warnings, err := n.reload.load()
	before, _ := n.setup.configuration()
	if err == nil && next.File == "" && before.File != "" {
		err = fmt.Errorf("%s is gone", before.File) // deleting it is not how its sources are given up
	}
	if err != nil {
		return err
	}
	effective := n.cfg.withSourcesOf(next)
	if err := n.gatherer.Apply(ctx, n.specs(effective)); err != nil {
		return err
	}
	if err := n.merger.Configure(ctx, n.members(effective)); err != nil {
		return err
	}
	wait := pending(n.cfg, next)
	n.setup.take(effective, wait, time.Now())
	n.setup.refuse(nil)
	for _, w := range warnings {
		n.log.Warn("configuration", "err", w)
	}
	n.tellTaken(effective, wait)
	return nil
}

// tellTaken says what is in force now and what is not yet.
func (n *node) tellTaken(c Config, wait []string) {
	text := "The configuration has been read again; sources: " + strings.Join(sourceNames(c.sources()), ", ") + "."
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
	return &configWatch{path: n.reload.path, asked: n.hangup, reread: n.reread, refuse: n.refuseConfiguration, log: n.log}
}
