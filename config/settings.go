package config

import (
	"cmp"
	"reflect"
)

// setting is one thing that can be set, whatever it is called where it is set.
type setting struct {
	flag  string // of `podstead run`, without dashes; "" for none
	field string // of a KubeletConfiguration; "" for none
	when  moment
	of    func(Config) any
}

// moment is when a changed setting takes effect.
type moment string

// The moments.
const (
	atStart moment = "at the next start"
	atOnce  moment = "at once"
	byOnce  moment = "in a run-once" // which reads it once
)

// key is the name of a setting in Origins, and of what Settings tells.
func (s setting) key() string { return cmp.Or(s.flag, s.field) }

// table lists every setting but those of listed sources and the webhook, which
// are in the document under their own names.
func table() []setting {
	return []setting{
		{"pod-manifest-path", "staticPodPath", atOnce, func(c Config) any { return c.Manifests }},
		{"manifest-url", "staticPodURL", atOnce, func(c Config) any { return withoutCredentials(c.HTTP.URL) }},
		{"manifest-url-header", "staticPodURLHeader", atOnce, func(c Config) any { return c.HTTP.Headers }},
		{"git-url", "", atOnce, func(c Config) any { return withoutCredentials(c.Git.URL) }},
		{"git-ref", "", atOnce, func(c Config) any { return c.Git.Ref }},
		{"git-path", "", atOnce, func(c Config) any { return c.Git.Paths }},
		{"git-poll-interval", "", atOnce, func(c Config) any { return c.GitPollInterval }},
		{"git-username", "", atOnce, func(c Config) any { return c.Git.Username }},
		{"git-password-file", "", atOnce, func(c Config) any { return c.Git.PasswordFile }},
		{"git-ssh-key", "", atOnce, func(c Config) any { return c.Git.SSHKeyFile }},
		{"git-ssh-key-passphrase-file", "", atOnce, func(c Config) any { return c.Git.SSHKeyPassphraseFile }},
		{"git-known-hosts", "", atOnce, func(c Config) any { return c.Git.KnownHostsFile }},
		{"git-ca-file", "", atOnce, func(c Config) any { return c.Git.CAFile }},
		{"file-check-frequency", "fileCheckFrequency", atOnce, func(c Config) any { return c.FileCheckFrequency }},
		{"http-check-frequency", "httpCheckFrequency", atOnce, func(c Config) any { return c.HTTPCheckFrequency }},

		{"root-dir", "", atStart, func(c Config) any { return c.RootDir }},
		{"socket", "", atStart, func(c Config) any { return c.Socket }},
		{"", "podLogsDir", atStart, func(c Config) any { return c.PodLogsDir }},
		{"hostname-override", "", atStart, func(c Config) any { return c.Hostname }},
		{"node-labels", "", atStart, func(c Config) any { return c.NodeLabels }},
		{"docker-endpoint", "", atStart, func(c Config) any { return withoutCredentials(c.EngineEndpoint()) }},
		{"cgroup-driver", "cgroupDriver", atStart, func(c Config) any { return c.CgroupDriver }},
		{"pod-cidr", "podCIDR", atStart, func(c Config) any { return c.PodCIDR }},

		{"sync-frequency", "syncFrequency", atStart, func(c Config) any { return c.SyncFrequency }},
		{"streaming-connection-idle-timeout", "streamingConnectionIdleTimeout", atStart, func(c Config) any { return c.StreamIdleTimeout }},
		{"", "crashLoopBackOff.maxContainerRestartPeriod", atStart, func(c Config) any { return c.MaxRestartPeriod }},
		{"max-pods", "maxPods", atStart, func(c Config) any { return c.MaxPods }},
		{"pods-per-core", "podsPerCore", atStart, func(c Config) any { return c.PodsPerCore }},
		{"kube-reserved", "kubeReserved", atStart, func(c Config) any { return c.KubeReserved }},
		{"system-reserved", "systemReserved", atStart, func(c Config) any { return c.SystemReserved }},
		{"serialize-image-pulls", "serializeImagePulls", atStart, func(c Config) any { return c.SerializeImagePulls }},
		{"", "maxParallelImagePulls", atStart, func(c Config) any { return c.MaxParallelImagePulls }},
		{"registry-qps", "registryPullQPS", atStart, func(c Config) any { return c.RegistryQPS }},
		{"registry-burst", "registryBurst", atStart, func(c Config) any { return c.RegistryBurst }},
		{"container-log-max-size", "containerLogMaxSize", atStart, func(c Config) any { return Size(c.LogMaxSize) }},
		{"container-log-max-files", "containerLogMaxFiles", atStart, func(c Config) any { return c.LogMaxFiles }},
		{"log-level", "logging.verbosity", atStart, func(c Config) any { return c.LogLevel }},
		{"log-format", "logging.format", atStart, func(c Config) any { return c.LogFormat }},

		{"runonce", "runOnce", byOnce, func(c Config) any { return c.Once }},
		{"runonce-timeout", "", byOnce, func(c Config) any { return c.OnceTimeout }},
		{"output", "", byOnce, func(c Config) any { return c.OnceOutput }},
	}
}

// byField finds the setting that a field of a KubeletConfiguration sets.
func byField(field string) (setting, bool) {
	for _, s := range table() {
		if s.field == field {
			return s, true
		}
	}
	return setting{}, false
}

// Pending names what differs between the configuration that the agent started
// with and the newest, and takes effect at a start only.
func Pending(started, newest Config) []string {
	var names []string
	for _, s := range table() {
		if s.when != atStart || reflect.DeepEqual(s.of(started), s.of(newest)) {
			continue
		}
		switch {
		case s.flag == "":
			names = append(names, s.field)
		case s.field == "":
			names = append(names, "--"+s.flag)
		default:
			names = append(names, s.field+" (--"+s.flag+")")
		}
	}
	if !reflect.DeepEqual(started.Webhook, newest.Webhook) {
		names = append(names, "webhook")
	}
	return names
}

// WithSourcesOf is c with what can change while the agent runs taken from next:
// the sources and how often they look.
func (c Config) WithSourcesOf(next Config) Config {
	c.File = next.File
	c.Manifests, c.HTTP, c.Git, c.GitPollInterval, c.Listed = next.Manifests, next.HTTP, next.Git, next.GitPollInterval, next.Listed
	c.FileCheckFrequency, c.HTTPCheckFrequency = next.FileCheckFrequency, next.HTTPCheckFrequency
	c.Origins = c.Origins.withSourcesOf(next.Origins)
	return c
}
