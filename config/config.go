package config

import (
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
)

// Config is all that `podstead run` can be told, whoever told it.
type Config struct {
	RootDir        string // absolute
	Socket         string // of the local API
	Hostname       string // explicit node name; "" for the host's
	NodeLabels     map[string]string
	DockerEndpoint string // "" for DOCKER_HOST, else the engine's usual socket
	File           string // configuration file that was read; "" for none

	// Sources, in order of precedence.
	Manifests       []string // folders and files, absolute
	HTTP            HTTP     // the kubelet's URL; none without URL
	Git             Git      // the flags' repository; none without URL
	GitPollInterval time.Duration
	Listed          []Source // the configuration file's list
	Webhook         *Webhook // nil for none

	FileCheckFrequency  time.Duration // safety rescan of a folder
	HTTPCheckFrequency  time.Duration // poll of a URL
	SyncFrequency       time.Duration // resync of all pods
	MaxPods             int
	SerializeImagePulls bool
	LogMaxSize          int64 // bytes of one file of a container's log
	LogMaxFiles         int
	PodCIDR             netip.Prefix // zero: chosen by the runtime

	Once        bool
	OnceTimeout time.Duration
	OnceOutput  string // "" for a table, json

	LogLevel  slog.Level
	LogFormat string // text, json, "" for text on a terminal
}

// Defaults are the values of what nobody sets.
func Defaults() Config {
	return Config{
		RootDir:             DefaultRootDir,
		FileCheckFrequency:  20 * time.Second,
		HTTPCheckFrequency:  20 * time.Second,
		GitPollInterval:     time.Minute,
		SyncFrequency:       5 * time.Minute,
		MaxPods:             110,
		SerializeImagePulls: true,
		LogMaxSize:          10 << 20,
		LogMaxFiles:         5,
		OnceTimeout:         5 * time.Minute,
		LogLevel:            slog.LevelInfo,
	}
}

// Validate returns everything that is wrong, each fault with the flag and, where
// it has one, the field of a KubeletConfiguration.
func (c Config) Validate() error {
	var f faults
	f.check(c.MaxPods >= 1, "--max-pods (maxPods)", "must be at least 1, is %d", c.MaxPods)
	f.check(c.FileCheckFrequency > 0, "--file-check-frequency (fileCheckFrequency)", "must be above 0, is %s", c.FileCheckFrequency)
	f.check(c.HTTPCheckFrequency > 0, "--http-check-frequency (httpCheckFrequency)", "must be above 0, is %s", c.HTTPCheckFrequency)
	f.check(c.GitPollInterval > 0, "--git-poll-interval", "must be above 0, is %s", c.GitPollInterval)
	f.check(c.SyncFrequency > 0, "--sync-frequency (syncFrequency)", "must be above 0, is %s", c.SyncFrequency)
	f.check(c.LogMaxSize > 0, "--container-log-max-size (containerLogMaxSize)", "must be above 0, is %d", c.LogMaxSize)
	f.check(c.LogMaxFiles >= 2, "--container-log-max-files (containerLogMaxFiles)", "must be at least 2, is %d: one file cannot be rotated", c.LogMaxFiles)
	f.check(c.OnceTimeout > 0, "--runonce-timeout", "must be above 0, is %s", c.OnceTimeout)
	f.check(c.Once || c.OnceOutput == "", "--output", "belongs to --runonce: a running agent reports through `podstead get` and `podstead status`")
	f.check(slices.Contains([]string{"", "json"}, c.OnceOutput), "--output", "%q is unknown; json is what there is", c.OnceOutput)
	f.check(slices.Contains([]string{"", "text", "json"}, c.LogFormat), "--log-format", "must be text or json, is %q", c.LogFormat)
	c.checkPlaces(&f)
	c.checkNode(&f)
	return f.err()
}

func (c Config) checkPlaces(f *faults) {
	f.check(filepath.IsAbs(c.RootDir) && c.RootDir != "/", "--root-dir", "must be an absolute path below /, is %q", c.RootDir)
	f.check(filepath.IsAbs(c.Socket), "--socket", "must be an absolute path, is %q", c.Socket)
	seen := map[string]bool{}
	for _, path := range c.Manifests {
		f.check(filepath.IsAbs(path), "--pod-manifest-path (staticPodPath)", "must be a path, is %q", path)
		f.check(!seen[path], "--pod-manifest-path (staticPodPath)", "%s is named twice", path)
		seen[path] = true
	}
	if c.DockerEndpoint != "" {
		u, err := url.Parse(c.DockerEndpoint)
		ok := err == nil && (u.Scheme == "unix" && filepath.IsAbs(u.Path) || u.Scheme == "tcp" && u.Host != "")
		f.check(ok, "--docker-endpoint", "must be like unix:///var/run/docker.sock or tcp://host:2376")
	}
	if c.PodCIDR.IsValid() {
		ok := c.PodCIDR.Addr().Is4() && c.PodCIDR.Masked() == c.PodCIDR && c.PodCIDR.Bits() <= 29
		f.check(ok, "--pod-cidr", "must be an IPv4 network of at least 8 addresses like 10.112.0.0/20, is %s", c.PodCIDR)
	}
}

func (c Config) checkNode(f *faults) {
	for _, key := range slices.Sorted(maps.Keys(c.NodeLabels)) {
		for _, why := range utilvalidation.IsQualifiedName(key) {
			f.add("--node-labels", "key %q: %s", key, why)
		}
		for _, why := range utilvalidation.IsValidLabelValue(c.NodeLabels[key]) {
			f.add("--node-labels", "value of %s: %s", key, why)
		}
	}
}

// Describe is one line for the log: what a user needs to see of the configuration.
func (c Config) Describe() []any {
	var places []string
	for _, s := range c.Sources() {
		places = append(places, s.Name+"="+s.Place())
	}
	return []any{
		"rootDir", c.RootDir, "config", c.File, "sources", fmt.Sprint(places), "maxPods", c.MaxPods,
		"syncFrequency", c.SyncFrequency, "fileCheckFrequency", c.FileCheckFrequency,
	}
}
