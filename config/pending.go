package config

import "reflect"

// WithSourcesOf is c with what can change while the agent runs taken from next:
// the sources and how often they look.
func (c Config) WithSourcesOf(next Config) Config {
	c.File = next.File
	c.Manifests, c.HTTP, c.Git, c.GitPollInterval, c.Listed = next.Manifests, next.HTTP, next.Git, next.GitPollInterval, next.Listed
	c.FileCheckFrequency, c.HTTPCheckFrequency = next.FileCheckFrequency, next.HTTPCheckFrequency
	return c
}

// Pending names what differs between the configuration that the agent started
// with and the newest, and takes effect at a start only.
func Pending(started, newest Config) []string {
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
