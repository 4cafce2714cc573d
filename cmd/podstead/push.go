package main

import (
	"context"
	"strings"

	"github.com/podstead/podstead/agent/api"
	"github.com/podstead/podstead/sources"
	"github.com/podstead/podstead/sources/webhook"
)

// newWebhook returns the listener for pushes, nil when none is configured.
func (n *node) newWebhook() (*webhook.Server, error) {
	w := n.cfg.Webhook
	if w == nil || n.cfg.Once {
		return nil, nil
	}
	return webhook.New(webhook.Config{
		Address: w.Address, Path: w.Path, SecretFile: w.SecretFile, TokenFile: w.TokenFile, CertFile: w.TLSCertFile, KeyFile: w.TLSKeyFile,
		Targets: n.pushTargets, State: n.setup.listening, Logger: n.log,
		Trigger: func(ctx context.Context, source string) error {
			return n.gatherer.Sync(ctx, source, sources.SyncRequest{})
		},
	})
}

// pushTargets are the sources that a push may concern.
func (n *node) pushTargets() []webhook.Target {
	var all []webhook.Target
	for _, s := range n.setup.sources() {
		switch {
		case s.HTTP != nil:
			all = append(all, webhook.Target{Name: s.Name})
		case s.Git != nil:
			ref := s.Git.Ref
			if strings.Contains(ref, "$(") { // another on each node: any push may move it
				ref = ""
			}
			all = append(all, webhook.Target{Name: s.Name, Git: true, URL: s.Git.URL, Ref: ref})
		}
	}
	return all
}

// webhookView is what is shown of the listener: one that knows no secret listens
// in vain.
func (n *node) webhookView(view *api.Webhook) *api.Webhook {
	if view == nil || n.hook == nil || view.Error != "" {
		return view
	}
	if err := n.hook.Check(); err != nil {
		view.Error = "pushes that need it are refused: " + err.Error()
	}
	return view
}
