package config

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

// Flags are the flags of `podstead run` as text: they are parsed here and
// not by kong, which would stop at the first bad value. Empty means not given.
type Flags struct {
	PodManifestPath []string `name:"pod-manifest-path" env:"PODSTEAD_POD_MANIFEST_PATH" placeholder:"DIR|FILE" help:"Folder of Pod manifests, or one manifest file; repeat it for more (in the variable, separate them with commas). Earlier ones win a pod name. Default: /etc/podstead/manifests."`
	Config          string   `name:"config" env:"PODSTEAD_CONFIG" placeholder:"FILE" help:"A KubeletConfiguration, a Configuration of podstead/v1alpha1 (docs/configuration.md), or both in one file. Default: /etc/podstead/config.yaml when it exists and no source is given here."`

	ManifestURL        string   `name:"manifest-url" env:"PODSTEAD_MANIFEST_URL" placeholder:"URL" help:"Ask this URL for manifests (one Pod, a List, or several documents) every --http-check-frequency. Its pods are held to policy edge; more settings and more URLs in the configuration file."`
	ManifestURLHeader  []string `name:"manifest-url-header" env:"PODSTEAD_MANIFEST_URL_HEADER" placeholder:"NAME:VALUE" help:"Header to send to --manifest-url, like 'Authorization:Bearer abc'; repeat it, or separate several with commas. Values are never shown."`
	HTTPCheckFrequency string   `name:"http-check-frequency" env:"PODSTEAD_HTTP_CHECK_FREQUENCY" placeholder:"20s" help:"How often URLs are asked."`

	GitURL                  string   `name:"git-url" env:"PODSTEAD_GIT_URL" placeholder:"URL" help:"Follow this git repository: https://host/path, ssh://user@host/path, user@host:path or file:///path. Its pods are held to policy edge; more settings and more repositories in the configuration file."`
	GitRef                  string   `name:"git-ref" env:"PODSTEAD_GIT_REF" placeholder:"BRANCH|TAG|COMMIT" help:"What to follow; $(NODE_NAME) and $(NODE_LABEL:key) are filled in. Default: the server's HEAD."`
	GitPath                 []string `name:"git-path" env:"PODSTEAD_GIT_PATH" placeholder:"DIR|FILE" help:"Folder or file of the repository to read, with all below it, like nodes/$(NODE_NAME); repeat it for more. Default: the whole repository."`
	GitPollInterval         string   `name:"git-poll-interval" env:"PODSTEAD_GIT_POLL_INTERVAL" placeholder:"1m" help:"How often the repository is asked whether its ref has moved."`
	GitUsername             string   `name:"git-username" env:"PODSTEAD_GIT_USERNAME" placeholder:"NAME" help:"User name for https."`
	GitPasswordFile         string   `name:"git-password-file" env:"PODSTEAD_GIT_PASSWORD_FILE" placeholder:"FILE" help:"File that holds the password or token for https; read again when it changes."`
	GitSSHKey               string   `name:"git-ssh-key" env:"PODSTEAD_GIT_SSH_KEY" placeholder:"FILE" help:"Private key for ssh."`
	GitSSHKeyPassphraseFile string   `name:"git-ssh-key-passphrase-file" env:"PODSTEAD_GIT_SSH_KEY_PASSPHRASE_FILE" placeholder:"FILE" help:"File that holds the passphrase of --git-ssh-key."`
	GitKnownHosts           string   `name:"git-known-hosts" env:"PODSTEAD_GIT_KNOWN_HOSTS" placeholder:"FILE" help:"Host keys to accept, as ssh-keyscan prints them; never written. Default: /etc/podstead/known_hosts, else the user's and the system's."`
	GitCAFile               string   `name:"git-ca-file" env:"PODSTEAD_GIT_CA_FILE" placeholder:"FILE" help:"Certificates to trust for https instead of the system's."`

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
func (r Flags) apply(c *Config) error {
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
	r.applySources(c, &f)
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

// applySources lays the flags of URLs and repositories over c.
func (r Flags) applySources(c *Config, f *faults) {
	setText(r.ManifestURL, &c.HTTP.URL)
	set(f, "http-check-frequency", r.HTTPCheckFrequency, &c.HTTPCheckFrequency, parseDuration)
	set(f, "git-poll-interval", r.GitPollInterval, &c.GitPollInterval, parseDuration)
	if len(r.ManifestURLHeader) > 0 {
		c.HTTP.Headers = Headers{}
	}
	for i, text := range r.ManifestURLHeader {
		name, value, ok := strings.Cut(text, ":")
		name = strings.TrimSpace(name)
		if !ok || name == "" { // what it is may be a secret
			f.add("--manifest-url-header", "number %d is not of the form NAME:VALUE (from the flag or $PODSTEAD_MANIFEST_URL_HEADER)", i+1)
			continue
		}
		c.HTTP.Headers[name] = append(c.HTTP.Headers[name], Secret(strings.TrimSpace(value)))
	}
	setText(r.GitURL, &c.Git.URL)
	setText(r.GitRef, &c.Git.Ref)
	setText(r.GitUsername, &c.Git.Username)
	setText(r.GitPasswordFile, &c.Git.PasswordFile)
	setText(r.GitSSHKey, &c.Git.SSHKeyFile)
	setText(r.GitSSHKeyPassphraseFile, &c.Git.SSHKeyPassphraseFile)
	setText(r.GitKnownHosts, &c.Git.KnownHostsFile)
	setText(r.GitCAFile, &c.Git.CAFile)
	if len(r.GitPath) > 0 {
		c.Git.Paths = r.GitPath
	}
}

// givesSources reports whether a flag or a variable names a source.
func (r Flags) givesSources() bool {
	return len(r.PodManifestPath) > 0 || r.ManifestURL != "" || r.GitURL != ""
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
