package main

import (
	"fmt"
	"log/slog"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"k8s.io/apimachinery/pkg/api/resource"
)

// runFlags are the flags of `podstead run` as text: they are parsed here and
// not by kong, which would stop at the first bad value. Empty means not given.
type runFlags struct {
	PodManifestPath []string `name:"pod-manifest-path" env:"PODSTEAD_POD_MANIFEST_PATH" placeholder:"DIR|FILE" help:"Folder of Pod manifests, or one manifest file; repeat it for more (in the variable, separate them with commas). Earlier ones win a pod name. Default: /etc/podstead/manifests."`
	Config          string   `name:"config" env:"PODSTEAD_CONFIG" placeholder:"FILE" help:"A KubeletConfiguration. Default: /etc/podstead/config.yaml when it exists and no source is given here."`

	RootDir          string `name:"root-dir" env:"PODSTEAD_ROOT_DIR" placeholder:"DIR" help:"Where records, volumes and last good manifests are kept. Default: /var/lib/podstead."`
	Socket           string `name:"socket" env:"PODSTEAD_SOCKET" placeholder:"PATH" help:"Unix socket of the local API. Default: /run/podstead/podstead.sock, or ROOT-DIR/run/podstead.sock when the root-dir is not the default."`
	HostnameOverride string `name:"hostname-override" env:"PODSTEAD_HOSTNAME_OVERRIDE" placeholder:"NAME" help:"Name of this node. Default: the host name at the first start."`
	NodeLabels       string `name:"node-labels" env:"PODSTEAD_NODE_LABELS" placeholder:"K=V,..." help:"Labels of this node, for nodeSelector and node affinity in manifests."`
	DockerEndpoint   string `name:"docker-endpoint" env:"PODSTEAD_DOCKER_ENDPOINT" placeholder:"URL" help:"Where the engine listens. Default: $DOCKER_HOST, else unix:///var/run/docker.sock."`
	PodCIDR          string `name:"pod-cidr" env:"PODSTEAD_POD_CIDR" placeholder:"CIDR" help:"Network of the pods. Default: the first free /20 of 10.112.0.0/12."`

	MaxPods              string `name:"max-pods" env:"PODSTEAD_MAX_PODS" placeholder:"110" help:"Pods that this node takes."`
	FileCheckFrequency   string `name:"file-check-frequency" env:"PODSTEAD_FILE_CHECK_FREQUENCY" placeholder:"20s" help:"How often a folder is read again although nothing was heard of it."`
	SyncFrequency        string `name:"sync-frequency" env:"PODSTEAD_SYNC_FREQUENCY" placeholder:"5m" help:"How often all pods are compared with the engine although nothing was heard."`
	SerializeImagePulls  truth  `name:"serialize-image-pulls" env:"PODSTEAD_SERIALIZE_IMAGE_PULLS" help:"Pull one image at a time. Default: true; --serialize-image-pulls=false pulls side by side."`
	ContainerLogMaxSize  string `name:"container-log-max-size" env:"PODSTEAD_CONTAINER_LOG_MAX_SIZE" placeholder:"10Mi" help:"Size at which a container's log is rotated."`
	ContainerLogMaxFiles string `name:"container-log-max-files" env:"PODSTEAD_CONTAINER_LOG_MAX_FILES" placeholder:"5" help:"Log files kept for a container, at least 2."`

	RunOnce        truth  `name:"runonce" aliases:"once" env:"PODSTEAD_RUNONCE" help:"Read every source once, run its pods until each is ready (or has succeeded), report, and leave them running. Exit: 0 all good, 1 some pod or manifest is not, 2 bad configuration or nothing usable, 4 engine unreachable."`
	RunOnceTimeout string `name:"runonce-timeout" env:"PODSTEAD_RUNONCE_TIMEOUT" placeholder:"5m" help:"How long --runonce waits for the pods."`
	Output         string `name:"output" short:"o" placeholder:"json" help:"Report of --runonce as JSON."`

	LogLevel  string `name:"log-level" env:"PODSTEAD_LOG_LEVEL" placeholder:"info" help:"debug, info, warn or error."`
	LogFormat string `name:"log-format" env:"PODSTEAD_LOG_FORMAT" placeholder:"text|json" help:"Default: text on a terminal, else json."`
}

// truth is a switch kept as text, so that its fault is told with the others.
type truth string

// Decode takes --name as true and --name=TEXT as it is.
func (t *truth) Decode(ctx *kong.DecodeContext) error {
	*t = "true"
	if ctx.Scan.Peek().Type == kong.FlagValueToken {
		*t = truth(ctx.Scan.Pop().String())
	}
	return nil
}

// IsBool tells kong that no value need follow.
func (*truth) IsBool() bool { return true }

// apply lays the given flags over c and returns every value that cannot be read.
// A value at fault leaves c as it was.
func (r runFlags) apply(c *Config) error {
	var f faults
	setText(r.RootDir, &c.RootDir)
	setText(r.Socket, &c.Socket)
	setText(r.HostnameOverride, &c.Hostname)
	setText(r.Output, &c.OnceOutput)
	setText(r.LogFormat, &c.LogFormat)
	setText(endpoint(r.DockerEndpoint), &c.DockerEndpoint)
	if len(r.PodManifestPath) > 0 {
		c.Manifests = r.PodManifestPath
	}
	set(&f, "node-labels", r.NodeLabels, &c.NodeLabels, parseLabels)
	set(&f, "pod-cidr", r.PodCIDR, &c.PodCIDR, parsePrefix)
	set(&f, "max-pods", r.MaxPods, &c.MaxPods, parseCount)
	set(&f, "file-check-frequency", r.FileCheckFrequency, &c.FileCheckFrequency, parseDuration)
	set(&f, "sync-frequency", r.SyncFrequency, &c.SyncFrequency, parseDuration)
	set(&f, "serialize-image-pulls", string(r.SerializeImagePulls), &c.SerializeImagePulls, parseTruth)
	set(&f, "container-log-max-size", r.ContainerLogMaxSize, &c.LogMaxSize, parseSize)
	set(&f, "container-log-max-files", r.ContainerLogMaxFiles, &c.LogMaxFiles, parseCount)
	set(&f, "runonce", string(r.RunOnce), &c.Once, parseTruth)
	set(&f, "runonce-timeout", r.RunOnceTimeout, &c.OnceTimeout, parseDuration)
	set(&f, "log-level", r.LogLevel, &c.LogLevel, parseLevel)
	return f.err()
}

func setText(text string, into *string) {
	if text != "" {
		*into = text
	}
}

// set parses the text of a flag, if any was given.
func set[T any](f *faults, flag, text string, into *T, parse func(string) (T, error)) {
	if text == "" {
		return
	}
	value, err := parse(text)
	if err != nil {
		variable := "PODSTEAD_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
		f.add("--"+flag, "%v (from the flag or $%s)", err, variable)
		return
	}
	*into = value
}

// endpoint lets a bare path stand for a unix socket, as the kubelet's flag did.
func endpoint(text string) string {
	if filepath.IsAbs(text) {
		return "unix://" + text
	}
	return text
}

func parseLabels(text string) (map[string]string, error) {
	labels := map[string]string{}
	for part := range strings.SplitSeq(text, ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("%q is not of the form key=value", part)
		}
		if _, twice := labels[key]; twice {
			return nil, fmt.Errorf("%s is given twice", key)
		}
		labels[key] = value
	}
	return labels, nil
}

func parseSize(text string) (int64, error) {
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a size like 10Mi", text)
	}
	return q.Value(), nil
}

func parseCount(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a whole number", text)
	}
	return n, nil
}

func parseTruth(text string) (bool, error) {
	b, err := strconv.ParseBool(text)
	if err != nil {
		return false, fmt.Errorf("%q is neither true nor false", text)
	}
	return b, nil
}

func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration like 30s or 5m", text)
	}
	return d, nil
}

func parsePrefix(text string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("%q is not a network like 10.112.0.0/20", text)
	}
	return p, nil
}

func parseLevel(text string) (slog.Level, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(text)); err != nil {
		return level, fmt.Errorf("%q is not one of debug, info, warn, error", text)
	}
	return level, nil
}
