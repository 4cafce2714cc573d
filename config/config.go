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
	CgroupDriver   string // that the engine is expected to have; "" for any
	File           string // configuration file that was read; "" for none
	PodLogsDir     string // absolute; links to the containers' logs, by pod

	// Sources, in order of precedence.
	Manifests       []string // folders and files, absolute
	HTTP            HTTP     // the kubelet's URL; none without URL
	Git             Git      // the flags' repository; none without URL
	GitPollInterval time.Duration
	Listed          []Source // the configuration file's list
	Webhook         *Webhook // nil for none

	FileCheckFrequency time.Duration // safety rescan of a folder
	HTTPCheckFrequency time.Duration // poll of a URL
	SyncFrequency      time.Duration // resync of all pods
	StreamIdleTimeout  time.Duration // after which a silent exec, attach or port-forward ends
	MaxRestartPeriod   time.Duration // longest delay before a crashed container starts again

	MaxPods        int
	PodsPerCore    int          // pods for each CPU, below MaxPods; 0 for no such limit
	KubeReserved   Resources    // kept from pods, for podstead and the engine
	SystemReserved Resources    // kept from pods, for the rest of the machine
	PodCIDR        netip.Prefix // zero: chosen by the runtime

	SerializeImagePulls   bool
	MaxParallelImagePulls int   // 0 for any number, unless SerializeImagePulls
	RegistryQPS           int   // pulls that begin each second; 0 for no limit
	RegistryBurst         int   // pulls that may begin at once for all that
	LogMaxSize            int64 // bytes of one file of a container's log
	LogMaxFiles           int

	Once        bool
	OnceTimeout time.Duration
	OnceOutput  string // "" for a table, json

	LogLevel  slog.Level
	LogFormat string // text, json, "" for text on a terminal

	// Origins say who set what, by the names of Settings; what is not in it has its
	// default.
	Origins Origins
}

// Resources are an amount of each resource that admission counts.
type Resources struct {
	MilliCPU int64
	Memory   int64 // bytes
}

// Defaults are the values of what nobody sets.
func Defaults() Config {
	return Config{
		RootDir:             DefaultRootDir,
		FileCheckFrequency:  20 * time.Second,
		HTTPCheckFrequency:  20 * time.Second,
		GitPollInterval:     time.Minute,
		SyncFrequency:       5 * time.Minute,
		StreamIdleTimeout:   4 * time.Hour,
		MaxRestartPeriod:    5 * time.Minute,
		MaxPods:             110,
		RegistryBurst:       10,
		SerializeImagePulls: true,
		LogMaxSize:          10 << 20,
		LogMaxFiles:         5,
		OnceTimeout:         5 * time.Minute,
		LogLevel:            slog.LevelInfo,
		Origins:             Origins{},
	}
}

// Validate returns everything that is wrong, each fault with the place of the
// value, its flag and, where it has one, its field of a KubeletConfiguration. What
// the kubelet refuses is refused here too.
func (c Config) Validate() error {
	var f faults
	check := func(ok bool, key, format string, args ...any) {
		f.check(ok, c.nameOf(key), format, args...)
	}
	c.checkTimes(check)
	c.checkAmounts(check)
	c.checkPlaces(check)
	c.checkNode(check)
	check(c.Once || c.OnceOutput == "", "output", "belongs to --runonce: a running agent reports through `podstead get` and `podstead status`")
	check(slices.Contains([]string{"", "json"}, c.OnceOutput), "output", "%q is unknown; json is what there is", c.OnceOutput)
	check(slices.Contains([]string{"", "text", "json"}, c.LogFormat), "log-format", "must be text or json, is %q", c.LogFormat)
	return f.err()
}

// checker notes a fault of a setting unless ok.
type checker func(ok bool, key, format string, args ...any)

func (c Config) checkTimes(check checker) {
	check(c.FileCheckFrequency > 0, "file-check-frequency", "must be above 0, is %s", c.FileCheckFrequency)
	check(c.HTTPCheckFrequency > 0, "http-check-frequency", "must be above 0, is %s", c.HTTPCheckFrequency)
	check(c.GitPollInterval > 0, "git-poll-interval", "must be above 0, is %s", c.GitPollInterval)
	check(c.SyncFrequency > 0, "sync-frequency", "must be above 0, is %s", c.SyncFrequency)
	check(c.StreamIdleTimeout > 0, "streaming-connection-idle-timeout", "must be above 0, is %s", c.StreamIdleTimeout)
	check(c.OnceTimeout > 0, "runonce-timeout", "must be above 0, is %s", c.OnceTimeout)
	check(c.MaxRestartPeriod >= time.Second && c.MaxRestartPeriod <= 5*time.Minute, "crashLoopBackOff.maxContainerRestartPeriod",
		"must be from 1s to 5m, is %s", c.MaxRestartPeriod)
}

func (c Config) checkAmounts(check checker) {
	check(c.MaxPods >= 1, "max-pods", "must be at least 1, is %d", c.MaxPods)
	check(c.PodsPerCore >= 0, "pods-per-core", "must not be below 0, is %d", c.PodsPerCore)
	check(c.RegistryQPS >= 0, "registry-qps", "must not be below 0, is %d", c.RegistryQPS)
	check(c.RegistryBurst >= 1, "registry-burst", "must be at least 1, is %d", c.RegistryBurst)
	check(c.MaxParallelImagePulls >= 0, "maxParallelImagePulls", "must be at least 1, is %d", c.MaxParallelImagePulls)
	check(!c.SerializeImagePulls || c.MaxParallelImagePulls <= 1, "maxParallelImagePulls",
		"is %d, which needs serializeImagePulls (--serialize-image-pulls) to be false", c.MaxParallelImagePulls)
	check(c.LogMaxSize > 0, "container-log-max-size", "must be above 0, is %d", c.LogMaxSize)
	check(c.LogMaxFiles >= 2, "container-log-max-files", "must be at least 2, is %d: one file cannot be rotated", c.LogMaxFiles)
	check(c.KubeReserved.MilliCPU >= 0 && c.KubeReserved.Memory >= 0, "kube-reserved", "must not be below 0, is %s", c.KubeReserved)
	check(c.SystemReserved.MilliCPU >= 0 && c.SystemReserved.Memory >= 0, "system-reserved", "must not be below 0, is %s", c.SystemReserved)
}

func (c Config) checkPlaces(check checker) {
	check(filepath.IsAbs(c.RootDir) && c.RootDir != "/", "root-dir", "must be an absolute path below /, is %q", c.RootDir)
	check(filepath.IsAbs(c.Socket), "socket", "must be an absolute path, is %q", c.Socket)
	check(filepath.IsAbs(c.PodLogsDir) && filepath.Clean(c.PodLogsDir) == c.PodLogsDir && c.PodLogsDir != "/", "podLogsDir",
		"must be an absolute path below / without . and .., is %q", c.PodLogsDir)
	seen := map[string]bool{}
	for _, path := range c.Manifests {
		check(filepath.IsAbs(path), "pod-manifest-path", "must be a path, is %q", path)
		check(!seen[path], "pod-manifest-path", "%s is named twice", path)
		seen[path] = true
	}
	if c.DockerEndpoint != "" {
		u, err := url.Parse(c.DockerEndpoint)
		ok := err == nil && (u.Scheme == "unix" && filepath.IsAbs(u.Path) || u.Scheme == "tcp" && u.Host != "")
		check(ok, "docker-endpoint", "must be like unix:///var/run/docker.sock or tcp://host:2376")
	}
	if c.PodCIDR.IsValid() {
		ok := c.PodCIDR.Addr().Is4() && c.PodCIDR.Masked() == c.PodCIDR && c.PodCIDR.Bits() <= 29
		check(ok, "pod-cidr", "must be an IPv4 network of at least 8 addresses like 10.112.0.0/20, is %s", c.PodCIDR)
	}
}

func (c Config) checkNode(check checker) {
	for _, key := range slices.Sorted(maps.Keys(c.NodeLabels)) {
		for _, why := range utilvalidation.IsQualifiedName(key) {
			check(false, "node-labels", "key %q: %s", key, why)
		}
		for _, why := range utilvalidation.IsValidLabelValue(c.NodeLabels[key]) {
			check(false, "node-labels", "value of %s: %s", key, why)
		}
	}
	check(slices.Contains([]string{"", "cgroupfs", "systemd"}, c.CgroupDriver), "cgroup-driver", "must be cgroupfs or systemd, is %q", c.CgroupDriver)
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
