package main

import (
	"reflect"
	"sync"
	"time"

	"github.com/podstead/podstead/agent/api"
)

// setup is the configuration in force, which changes while the agent runs. Safe
// for concurrent use.
type setup struct {
	mu   sync.Mutex
	cfg  Config
	view api.Configuration
	hook *api.Webhook // nil without a webhook
}

func newSetup(cfg Config, now time.Time) *setup {
	s := &setup{cfg: cfg, view: api.Configuration{File: cfg.File, Taken: now}}
	if cfg.Webhook != nil {
		s.hook = &api.Webhook{}
	}
	return s
}

// config is the configuration in force; not to be changed.
func (s *setup) config() Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cfg
}

// sources are the configured sources in order.
func (s *setup) sources() []sourceSpec { return s.config().sources() }

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
func (s *setup) take(next Config, pending []string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cfg = next
	s.view.Pending, s.view.Taken, s.view.File = pending, now, next.File
}

// withSourcesOf is c with what can change while the agent runs taken from next:
// the sources and how often they look.
func (c Config) withSourcesOf(next Config) Config {
	c.File = next.File
	c.Manifests, c.HTTP, c.Git, c.GitPollInterval, c.Listed = next.Manifests, next.HTTP, next.Git, next.GitPollInterval, next.Listed
	c.FileCheckFrequency, c.HTTPCheckFrequency = next.FileCheckFrequency, next.HTTPCheckFrequency
	return c
}

// pending names what differs between the configuration that the agent started
// with and the newest, and takes effect at a start only.
func pending(started, newest Config) []string {
	settings := []struct {
		name string
		of   func(Config) any
	}{
		{"--root-dir", func(c Config) any { return c.RootDir }},
		{"--socket", func(c Config) any { return c.Socket }},
		{"--hostname-override", func(c Config) any { return c.Hostname }},
		{"--node-labels", func(c Config) any { return c.NodeLabels }},
		{"--docker-endpoint", func(c Config) any { return c.DockerEndpoint }},
		{"syncFrequency (--sync-frequency)", func(c Config) any { return c.SyncFrequency }},
		{"maxPods (--max-pods)", func(c Config) any { return c.MaxPods }},
		{"serializeImagePulls (--serialize-image-pulls)", func(c Config) any { return c.SerializeImagePulls }},
		{"containerLogMaxSize (--container-log-max-size)", func(c Config) any { return c.LogMaxSize }},
		{"containerLogMaxFiles (--container-log-max-files)", func(c Config) any { return c.LogMaxFiles }},
		{"--pod-cidr", func(c Config) any { return c.PodCIDR }},
		{"webhook", func(c Config) any { return c.Webhook }},
		{"--log-level", func(c Config) any { return c.LogLevel }},
		{"--log-format", func(c Config) any { return c.LogFormat }},
	}
	var names []string
	for _, s := range settings {
		if !reflect.DeepEqual(s.of(started), s.of(newest)) {
			names = append(names, s.name)
		}
	}
	return names
}
