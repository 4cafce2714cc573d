package docker

import (
	"maps"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/go-connections/nat"
	"github.com/podstead/podstead/runtime"
)

// spec is a create call: all that the engine is told of one container.
type spec struct {
	name    string
	config  *container.Config
	host    *container.HostConfig
	network *network.NetworkingConfig // nil when it joins another's or the host's
}

// surroundings are what specs need to know besides what the agent asks for.
type surroundings struct {
	nodeName, nodeID string
	cgroupParent     string // "" for the engine's default
	logSize          string // bytes
	logFiles         int
	pauseImage       string
	networkID        string // "" with host network
	lowerScore       bool   // the engine may lower an oom score
}

// sandboxScore keeps the kernel's out-of-memory killer off the sandboxes, as
// the kubelet's.
const sandboxScore = -998

// sandboxShares is the least there is.
const sandboxShares = 2

// sandboxGrace is the time the engine's own shutdown gives a sandbox. pause
// leaves at once; the pod's containers have theirs meanwhile.
const sandboxGrace = 10 * time.Second

// sandboxSpec translates a sandbox. The sandbox owns the namespaces that its
// containers join, so what concerns network, IPC and host name is said here
// and not with the containers.
func sandboxSpec(cfg runtime.SandboxConfig, in surroundings) spec {
	id := identity{pod: cfg.Pod, container: sandboxContainer, attempt: cfg.Attempt}
	config, host := common(id, in)
	config.Image = in.pauseImage
	config.User = cfg.User
	config.Hostname = cfg.Hostname
	config.StopSignal = "SIGTERM"
	config.StopTimeout = seconds(sandboxGrace)
	config.Labels = sandboxLabels(cfg.Labels, config.Labels)
	config.ExposedPorts, host.PortBindings = ports(cfg.Ports)

	host.IpcMode = container.IPCModeShareable
	if cfg.HostIPC {
		host.IpcMode = container.IPCModeHost
	}
	if cfg.HostPID {
		host.PidMode = "host"
	}
	host.CPUShares = sandboxShares
	host.CapDrop = []string{"ALL"}
	host.ReadonlyRootfs = true
	host.SecurityOpt = securityOptions(true, cfg.Seccomp)
	if in.lowerScore {
		host.OomScoreAdj = sandboxScore
	}
	s := spec{name: id.name(), config: config, host: host}
	if cfg.HostNetwork {
		config.Hostname = ""
		host.NetworkMode = network.NetworkHost
		host.UTSMode = "host"
		return s
	}
	s.join(in.networkID, cfg.Names)
	return s
}

// join puts a sandbox on the pod network, under the names it answers to there.
func (s *spec) join(networkID string, names []string) {
	s.host.NetworkMode = container.NetworkMode(networkID)
	s.network = &network.NetworkingConfig{EndpointsConfig: map[string]*network.EndpointSettings{
		networkID: {Aliases: names},
	}}
}

// containerSpec translates a container.
func containerSpec(cfg runtime.ContainerConfig, in surroundings) spec {
	id := identity{
		pod:         cfg.Pod,
		container:   cfg.Name,
		attempt:     cfg.Attempt,
		sandboxID:   cfg.SandboxID,
		messagePath: cfg.MessagePath,
	}
	config, host := common(id, in)
	config.Image = cfg.Image
	for _, label := range cfg.Disowned {
		config.Labels[label] = ""
	}
	config.Entrypoint = cfg.Command
	config.Cmd = cfg.Args
	config.WorkingDir = cfg.WorkingDir
	config.Env = cfg.Env
	config.StopSignal = cfg.StopSignal
	config.StopTimeout = seconds(cfg.StopTimeout)

	sandbox := "container:" + cfg.SandboxID
	host.NetworkMode = container.NetworkMode(sandbox)
	host.IpcMode = container.IpcMode(sandbox)
	switch {
	case cfg.HostPID:
		host.PidMode = "host"
	case cfg.SharePID:
		host.PidMode = container.PidMode(sandbox)
	}
	if cfg.HostNetwork {
		host.UTSMode = "host"
	}
	host.Mounts = mounts(cfg.Mounts)
	limit(cfg.Resources, host)
	secure(cfg.Security, config, host)
	return spec{name: id.name(), config: config, host: host}
}

// common is what sandboxes and containers share: whatever the engine would do
// by itself is switched off, for the agent decides.
func common(id identity, in surroundings) (*container.Config, *container.HostConfig) {
	noInit := false
	config := &container.Config{
		Labels:      id.labels(in.nodeName, in.nodeID),
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
	}
	host := &container.HostConfig{
		RestartPolicy: container.RestartPolicy{Name: container.RestartPolicyDisabled},
		LogConfig: container.LogConfig{Type: "json-file", Config: map[string]string{
			"max-size": in.logSize,
			"max-file": strconv.Itoa(in.logFiles),
		}},
		Resources: container.Resources{CgroupParent: in.cgroupParent},
		Init:      &noInit,
	}
	return config, host
}

// sandboxLabels adds the pod's own labels, which never override ours.
func sandboxLabels(pods, ours map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, pods)
	maps.Copy(all, ours)
	return all
}

// ports publishes what has a host port, on every address unless one is named.
func ports(mappings []runtime.PortMapping) (nat.PortSet, nat.PortMap) {
	exposed, bindings := nat.PortSet{}, nat.PortMap{}
	for _, m := range mappings {
		if m.HostPort == 0 {
			continue
		}
		port := nat.Port(strconv.Itoa(int(m.ContainerPort)) + "/" + strings.ToLower(m.Protocol))
		exposed[port] = struct{}{}
		bindings[port] = append(bindings[port], nat.PortBinding{
			HostIP:   m.HostIP,
			HostPort: strconv.Itoa(int(m.HostPort)),
		})
	}
	return exposed, bindings
}

// mounts binds host paths. A missing one is an error and makes no directory;
// making it is for the volumes to decide. Read-only is not recursive, as in
// Kubernetes, also on engines whose default is that.
func mounts(ms []runtime.Mount) []mount.Mount {
	var out []mount.Mount
	for _, m := range ms {
		bind := mount.Mount{Type: mount.TypeBind, Source: m.HostPath, Target: m.ContainerPath, ReadOnly: m.ReadOnly}
		if m.ReadOnly {
			bind.BindOptions = &mount.BindOptions{ReadOnlyNonRecursive: true}
		}
		out = append(out, bind)
	}
	return out
}

// limit sets a container's limits. The engine adds as much swap as memory
// unless both figures are the same.
func limit(r runtime.Resources, host *container.HostConfig) {
	host.CPUShares = r.CPUShares
	host.CPUPeriod = r.CPUPeriod
	host.CPUQuota = r.CPUQuota
	host.Memory = r.Memory
	host.MemorySwap = r.Memory
}

// seconds rounds up, so that a grace period is never cut short.
func seconds(d time.Duration) *int {
	n := int(math.Ceil(d.Seconds()))
	return &n
}
