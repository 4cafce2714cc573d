package config

import (
	"strings"

	"github.com/alecthomas/kong"
)

// Flags are the flags of `podstead run` as text: they are parsed here and
// not by kong, which would stop at the first bad value. Empty means not given.
// Those that a kubelet has too are called as there.
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
	CgroupDriver     string `name:"cgroup-driver" env:"PODSTEAD_CGROUP_DRIVER" placeholder:"cgroupfs|systemd" help:"What the engine is expected to use; a warning says when it does not."`
	DockerEndpoint   string `name:"docker-endpoint" env:"PODSTEAD_DOCKER_ENDPOINT" placeholder:"URL" help:"Where the engine listens. Default: $DOCKER_HOST, else unix:///var/run/docker.sock."`
	PodCIDR          string `name:"pod-cidr" env:"PODSTEAD_POD_CIDR" placeholder:"CIDR" help:"Network of the pods. Default: the first free /20 of 10.112.0.0/12."`

	MaxPods              string `name:"max-pods" env:"PODSTEAD_MAX_PODS" placeholder:"110" help:"Pods that this node takes."`
	PodsPerCore          string `name:"pods-per-core" env:"PODSTEAD_PODS_PER_CORE" placeholder:"N" help:"Pods that this node takes for each of its CPUs, at most --max-pods. Default: no such limit."`
	KubeReserved         string `name:"kube-reserved" env:"PODSTEAD_KUBE_RESERVED" placeholder:"cpu=200m,memory=150Mi" help:"What is kept from pods for podstead and the engine."`
	SystemReserved       string `name:"system-reserved" env:"PODSTEAD_SYSTEM_RESERVED" placeholder:"cpu=200m,memory=150Mi" help:"What is kept from pods for the rest of the machine."`
	FileCheckFrequency   string `name:"file-check-frequency" env:"PODSTEAD_FILE_CHECK_FREQUENCY" placeholder:"20s" help:"How often a folder is read again although nothing was heard of it."`
	SyncFrequency        string `name:"sync-frequency" env:"PODSTEAD_SYNC_FREQUENCY" placeholder:"5m" help:"How often all pods are compared with the engine although nothing was heard."`
	SerializeImagePulls  truth  `name:"serialize-image-pulls" env:"PODSTEAD_SERIALIZE_IMAGE_PULLS" help:"Pull one image at a time. Default: true; --serialize-image-pulls=false pulls side by side."`
	RegistryQPS          string `name:"registry-qps" env:"PODSTEAD_REGISTRY_QPS" placeholder:"N" help:"Image pulls that may begin each second; others wait. Default: 0, no limit."`
	RegistryBurst        string `name:"registry-burst" env:"PODSTEAD_REGISTRY_BURST" placeholder:"10" help:"Image pulls that may begin at once in spite of --registry-qps."`
	ContainerLogMaxSize  string `name:"container-log-max-size" env:"PODSTEAD_CONTAINER_LOG_MAX_SIZE" placeholder:"10Mi" help:"Size at which a container's log is rotated."`
	ContainerLogMaxFiles string `name:"container-log-max-files" env:"PODSTEAD_CONTAINER_LOG_MAX_FILES" placeholder:"5" help:"Log files kept for a container, at least 2."`

	StreamingConnectionIdleTimeout string `name:"streaming-connection-idle-timeout" env:"PODSTEAD_STREAMING_CONNECTION_IDLE_TIMEOUT" placeholder:"4h" help:"How long an exec, attach or port-forward may be silent."`

	RunOnce        truth  `name:"runonce" aliases:"once" env:"PODSTEAD_RUNONCE" help:"Read every source once, run its pods until each is ready (or has succeeded), report, and leave them running. Exit: 0 all good, 1 some pod or manifest is not, 2 bad configuration or nothing usable, 4 engine unreachable."`
	RunOnceTimeout string `name:"runonce-timeout" env:"PODSTEAD_RUNONCE_TIMEOUT" placeholder:"5m" help:"How long --runonce waits for the pods."`

	Verbosity string `name:"v" short:"v" env:"PODSTEAD_V" placeholder:"N" help:"A kubelet's verbosity: 4 and more is --log-level=debug."`
	LogLevel  string `name:"log-level" env:"PODSTEAD_LOG_LEVEL" placeholder:"info" help:"debug, info, warn or error."`
	LogFormat string `name:"log-format" env:"PODSTEAD_LOG_FORMAT" placeholder:"text|json" help:"Default: text on a terminal, else json."`

	// Output is the form of the report of --runonce, a flag of the command itself.
	Output string `kong:"-"`
	// Kubelet are flags of a kubelet that podstead has not (TakeKubeletFlags).
	Kubelet []KubeletFlag `kong:"-"`
	// OnLine are the flags that stand on the command line; what else is not empty
	// comes from the environment. nil: all do.
	OnLine map[string]bool `kong:"-"`
}

// AfterApply notes which flags stand on the command line.
func (r *Flags) AfterApply(ctx *kong.Context) error {
	r.OnLine = map[string]bool{}
	for _, at := range ctx.Path {
		if at.Flag != nil {
			r.OnLine[at.Flag.Name] = true
		}
	}
	return nil
}

// origin is that of a flag that is not empty.
func (r Flags) origin(flag string) Origin {
	if r.OnLine == nil || r.OnLine[flag] {
		return Origin{From: FromFlag, Place: "--" + flag}
	}
	return Origin{From: FromEnvironment, Place: variable(flag)}
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
	l := &flagLayer{flags: r, into: c}
	set(l, "root-dir", r.RootDir, &c.RootDir, asText)
	set(l, "socket", r.Socket, &c.Socket, asText)
	set(l, "hostname-override", r.HostnameOverride, &c.Hostname, asText)
	set(l, "output", r.Output, &c.OnceOutput, asText)
	set(l, "docker-endpoint", r.DockerEndpoint, &c.DockerEndpoint, endpoint)
	set(l, "cgroup-driver", r.CgroupDriver, &c.CgroupDriver, asText)
	set(l, "node-labels", r.NodeLabels, &c.NodeLabels, parseLabels)
	set(l, "pod-cidr", r.PodCIDR, &c.PodCIDR, parsePrefix)
	r.applySources(c, l)
	r.applyAmounts(c, l)
	set(l, "runonce", string(r.RunOnce), &c.Once, parseTruth)
	set(l, "runonce-timeout", r.RunOnceTimeout, &c.OnceTimeout, parseDuration)
	set(l, "v", r.Verbosity, &c.LogLevel, parseVerbosity)
	set(l, "log-level", r.LogLevel, &c.LogLevel, parseLevel)
	set(l, "log-format", r.LogFormat, &c.LogFormat, asText)
	return l.err()
}

func (r Flags) applyAmounts(c *Config, l *flagLayer) {
	set(l, "max-pods", r.MaxPods, &c.MaxPods, parseCount)
	set(l, "pods-per-core", r.PodsPerCore, &c.PodsPerCore, parseCount)
	set(l, "kube-reserved", r.KubeReserved, &c.KubeReserved, parseResources)
	set(l, "system-reserved", r.SystemReserved, &c.SystemReserved, parseResources)
	set(l, "file-check-frequency", r.FileCheckFrequency, &c.FileCheckFrequency, parseDuration)
	set(l, "sync-frequency", r.SyncFrequency, &c.SyncFrequency, parseDuration)
	set(l, "streaming-connection-idle-timeout", r.StreamingConnectionIdleTimeout, &c.StreamIdleTimeout, parseDuration)
	set(l, "serialize-image-pulls", string(r.SerializeImagePulls), &c.SerializeImagePulls, parseTruth)
	set(l, "registry-qps", r.RegistryQPS, &c.RegistryQPS, parseCount)
	set(l, "registry-burst", r.RegistryBurst, &c.RegistryBurst, parseCount)
	set(l, "container-log-max-size", r.ContainerLogMaxSize, &c.LogMaxSize, parseSize)
	set(l, "container-log-max-files", r.ContainerLogMaxFiles, &c.LogMaxFiles, parseCount)
}

// applySources lays the flags of URLs and repositories over c.
func (r Flags) applySources(c *Config, l *flagLayer) {
	setAll(l, "pod-manifest-path", r.PodManifestPath, &c.Manifests)
	set(l, "manifest-url", r.ManifestURL, &c.HTTP.URL, asText)
	set(l, "http-check-frequency", r.HTTPCheckFrequency, &c.HTTPCheckFrequency, parseDuration)
	set(l, "git-poll-interval", r.GitPollInterval, &c.GitPollInterval, parseDuration)
	r.applyHeaders(c, l)
	set(l, "git-url", r.GitURL, &c.Git.URL, asText)
	set(l, "git-ref", r.GitRef, &c.Git.Ref, asText)
	setAll(l, "git-path", r.GitPath, &c.Git.Paths)
	set(l, "git-username", r.GitUsername, &c.Git.Username, asText)
	set(l, "git-password-file", r.GitPasswordFile, &c.Git.PasswordFile, asText)
	set(l, "git-ssh-key", r.GitSSHKey, &c.Git.SSHKeyFile, asText)
	set(l, "git-ssh-key-passphrase-file", r.GitSSHKeyPassphraseFile, &c.Git.SSHKeyPassphraseFile, asText)
	set(l, "git-known-hosts", r.GitKnownHosts, &c.Git.KnownHostsFile, asText)
	set(l, "git-ca-file", r.GitCAFile, &c.Git.CAFile, asText)
}

func (r Flags) applyHeaders(c *Config, l *flagLayer) {
	const flag = "manifest-url-header"
	if len(r.ManifestURLHeader) == 0 {
		return
	}
	c.HTTP.Headers, c.Origins[flag] = Headers{}, r.origin(flag)
	for i, text := range r.ManifestURLHeader {
		name, value, ok := strings.Cut(text, ":")
		name = strings.TrimSpace(name)
		if !ok || name == "" { // what it is may be a secret
			l.add(r.origin(flag).name(flag), "number %d is not of the form NAME:VALUE", i+1)
			continue
		}
		c.HTTP.Headers[name] = append(c.HTTP.Headers[name], Secret(strings.TrimSpace(value)))
	}
}

// givesSources reports whether a flag or a variable names a source.
func (r Flags) givesSources() bool {
	return len(r.PodManifestPath) > 0 || r.ManifestURL != "" || r.GitURL != ""
}

// flagLayer is flags that are being laid over a configuration.
type flagLayer struct {
	faults
	flags Flags
	into  *Config
}

// set parses the text of a flag, if any was given, and notes that it was.
func set[T any](l *flagLayer, flag, text string, into *T, parse func(string) (T, error)) {
	if text == "" {
		return
	}
	key := flag
	if flag == "v" { // another word for it
		key = "log-level"
	}
	origin := l.flags.origin(flag)
	l.into.Origins[key] = origin
	value, err := parse(text)
	if err != nil {
		l.add(origin.name(flag), "%v", err)
		return
	}
	*into = value
}

// setAll takes the values of a flag that can be repeated.
func setAll(l *flagLayer, flag string, values []string, into *[]string) {
	if len(values) > 0 {
		*into, l.into.Origins[flag] = values, l.flags.origin(flag)
	}
}
