package main

import (
	"sync"
	"time"

	"github.com/podstead/podstead/agent/api"
	"github.com/podstead/podstead/config"
)

// setup is the configuration in force, which changes while the agent runs. Safe
// for concurrent use.
type setup struct {
	mu   sync.Mutex
	cfg  config.Config
	view api.Configuration
	hook *api.Webhook // nil without a webhook
}

func newSetup(cfg config.Config, now time.Time) *setup {
	s := &setup{cfg: cfg, view: api.Configuration{File: cfg.File, Taken: now}}
	if cfg.Webhook != nil {
		s.hook = &api.Webhook{}
	}
	return s
}

// config is the configuration in force; not to be changed.
func (s *setup) config() config.Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cfg
}

// sources are the configured sources in order.
func (s *setup) sources() []config.Source { return s.config().Sources() }

// configuration is what is shown of it.
func (s *setup) configuration() (api.Configuration, *api.Webhook) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hook == nil {
		return s.view, nil
	}
	hook := *s.hook
	return s.view, &hook
}

// listening notes where the webhook listens, or why not.
func (s *setup) listening(address string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*s.hook = api.Webhook{Address: address}
	if err != nil {
		s.hook.Error = err.Error()
	}
}

// refuse notes why the newest version of the configuration has no effect, and
// reports whether that is new. nil: nothing is wrong any more.
func (s *setup) refuse(err error) (news bool) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	news = text != s.view.Error
	s.view.Error = text
	return news
}

// take puts the sources of next in force and notes what of it waits for a start.
func (s *setup) take(next config.Config, pending []string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cfg = next
	s.view.Pending, s.view.Taken, s.view.File = pending, now, next.File
}
