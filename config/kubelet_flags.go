package config

import (
	"slices"
	"strings"
)

// KubeletFlag is a flag of a kubelet that podstead has not.
type KubeletFlag struct {
	Name    string // without dashes
	Field   string // of a KubeletConfiguration that is the same; "" for none
	Effect  Effect // why it has no effect; "" when it is refused
	Instead string // what to use instead
	Switch  bool   // needs no value
}

// refused reports whether podstead must not start as if the flag were not there.
func (f KubeletFlag) refused() bool { return f.Effect == "" && f.Field == "" }

// told is what is said of the flag when it is given.
func (f KubeletFlag) told() string {
	name := "--" + f.Name
	if f.refused() {
		return "is a kubelet's flag: " + f.Instead
	}
	row := KubeletField{Effect: f.Effect, Note: f.Instead}
	if f.Field != "" {
		row = fieldRow(f.Field)
	}
	return name + " has no effect in podstead: " + row.why()
}

// KubeletFlags are the flags of a kubelet (1.20 to 1.37) that podstead has not:
// those that it has bear the same names. A start that would be another than was
// asked for is refused; the others are named.
func KubeletFlags() []KubeletFlag {
	return slices.Concat(refusedFlags(), nodeFlags(), hostFlags(), fieldFlags(), klogFlags(), cadvisorFlags())
}

func refusedFlags() []KubeletFlag {
	joins := "it would join a cluster, and podstead runs the pods of folders, URLs and repositories; leave it out"
	return []KubeletFlag{
		{Name: "kubeconfig", Instead: joins},
		{Name: "bootstrap-kubeconfig", Instead: joins},
		{Name: "config-dir", Instead: "write what its files hold into the one file of --config"},
		{Name: "dynamic-config-dir", Instead: "write what it holds into the one file of --config"},
		{Name: "image-credential-provider-config", Instead: "registries' logins are taken from imagePullSecrets and Docker's config.json"},
		{Name: "version", Switch: true, Instead: "`podstead version` tells it"},
	}
}

func nodeFlags() []KubeletFlag {
	return []KubeletFlag{
		{Name: "register-node", Field: "registerNode", Switch: true},
		{Name: "register-schedulable", Effect: ofAPIServer, Switch: true},
		{Name: "register-with-taints", Field: "registerWithTaints"},
		{Name: "cloud-provider", Effect: ofAPIServer},
		{Name: "cloud-config", Effect: ofAPIServer},
		{Name: "node-ip", Effect: ofAPIServer, Instead: "hostIP is the address of the default route's interface"},
		{Name: "cert-dir", Effect: ofServer},
		{Name: "provider-id", Field: "providerID"},
		{Name: "rotate-certificates", Field: "rotateCertificates", Switch: true},
		{Name: "rotate-server-certificates", Field: "serverTLSBootstrap", Switch: true},
		{Name: "node-status-max-images", Field: "nodeStatusMaxImages"},
		{Name: "node-status-update-frequency", Field: "nodeStatusUpdateFrequency"},
		{Name: "kube-api-burst", Field: "kubeAPIBurst"},
		{Name: "kube-api-qps", Field: "kubeAPIQPS"},
		{Name: "kube-api-content-type", Field: "contentType"},
		{Name: "event-qps", Field: "eventRecordQPS"},
		{Name: "event-burst", Field: "eventBurst"},
		{Name: "enable-controller-attach-detach", Field: "enableControllerAttachDetach", Switch: true},
	}
}

func hostFlags() []KubeletFlag {
	return []KubeletFlag{
		{Name: "container-runtime", Effect: ofEngine},
		{Name: "container-runtime-endpoint", Field: "containerRuntimeEndpoint"},
		{Name: "image-service-endpoint", Field: "imageServiceEndpoint"},
		{Name: "pod-infra-container-image", Effect: ofEngine, Instead: "the pause image is built in"},
		{Name: "runtime-cgroups", Effect: ofEngine},
		{Name: "runtime-request-timeout", Field: "runtimeRequestTimeout"},
		{Name: "network-plugin", Effect: ofEngine},
		{Name: "network-plugin-mtu", Effect: ofEngine},
		{Name: "cni-bin-dir", Effect: ofEngine},
		{Name: "cni-cache-dir", Effect: ofEngine},
		{Name: "cni-conf-dir", Effect: ofEngine},
		{Name: "image-pull-progress-deadline", Effect: ofEngine},
		{Name: "image-credential-provider-bin-dir", Effect: ofEngine},
		{Name: "docker-root", Effect: ofEngine},
		{Name: "maximum-dead-containers", Effect: ofEngine, Instead: "one ended instance of each container is kept"},
		{Name: "maximum-dead-containers-per-container", Effect: ofEngine, Instead: "one ended instance of each container is kept"},
		{Name: "minimum-container-ttl-duration", Effect: ofEngine},
		{Name: "exit-on-lock-contention", Effect: ofProcess, Switch: true, Instead: "the root-dir is locked anyway"},
		{Name: "lock-file", Effect: ofProcess, Instead: "the root-dir is locked anyway"},
		{Name: "experimental-allocatable-ignore-eviction", Field: "evictionHard", Switch: true},
		{Name: "experimental-mounter-path", Effect: ofProcess},
		{Name: "keep-terminated-pod-volumes", Effect: ofProcess, Switch: true},
		{Name: "seccomp-profile-root", Effect: ofPods},
		{Name: "windows-service", Effect: ofProcess, Switch: true},
	}
}

// fieldFlags are the flags that set a field.
func fieldFlags() []KubeletFlag {
	var all []KubeletFlag
	for name, field := range map[string]string{
		"address": "address", "allowed-unsafe-sysctls": "allowedUnsafeSysctls",
		"authentication-token-webhook-cache-ttl": "authentication.webhook.cacheTTL", "authorization-mode": "authorization.mode",
		"authorization-webhook-cache-authorized-ttl":   "authorization.webhook.cacheAuthorizedTTL",
		"authorization-webhook-cache-unauthorized-ttl": "authorization.webhook.cacheUnauthorizedTTL",
		"cgroup-root": "cgroupRoot", "client-ca-file": "authentication.x509.clientCAFile", "cluster-dns": "clusterDNS", "cluster-domain": "clusterDomain",
		"cpu-cfs-quota-period": "cpuCFSQuotaPeriod", "cpu-manager-policy": "cpuManagerPolicy", "cpu-manager-policy-options": "cpuManagerPolicyOptions",
		"cpu-manager-reconcile-period": "cpuManagerReconcilePeriod", "enforce-node-allocatable": "enforceNodeAllocatable",
		"eviction-hard": "evictionHard", "eviction-soft": "evictionSoft", "eviction-soft-grace-period": "evictionSoftGracePeriod",
		"eviction-max-pod-grace-period": "evictionMaxPodGracePeriod", "eviction-minimum-reclaim": "evictionMinimumReclaim",
		"eviction-pressure-transition-period": "evictionPressureTransitionPeriod", "feature-gates": "featureGates", "hairpin-mode": "hairpinMode",
		"healthz-bind-address": "healthzBindAddress", "healthz-port": "healthzPort",
		"image-gc-high-threshold": "imageGCHighThresholdPercent", "image-gc-low-threshold": "imageGCLowThresholdPercent", "minimum-image-ttl-duration": "imageMinimumGCAge",
		"iptables-drop-bit": "iptablesDropBit", "iptables-masquerade-bit": "iptablesMasqueradeBit",
		"kube-reserved-cgroup": "kubeReservedCgroup", "system-reserved-cgroup": "systemReservedCgroup", "kubelet-cgroups": "kubeletCgroups", "system-cgroups": "systemCgroups",
		"max-open-files": "maxOpenFiles", "memory-manager-policy": "memoryManagerPolicy", "oom-score-adj": "oomScoreAdj", "pod-max-pids": "podPidsLimit",
		"port": "port", "read-only-port": "readOnlyPort", "qos-reserved": "qosReserved", "reserved-cpus": "reservedSystemCPUs", "reserved-memory": "reservedMemory",
		"resolv-conf": "resolvConf", "tls-cert-file": "tlsCertFile", "tls-private-key-file": "tlsPrivateKeyFile", "tls-cipher-suites": "tlsCipherSuites", "tls-min-version": "tlsMinVersion",
		"topology-manager-policy": "topologyManagerPolicy", "topology-manager-policy-options": "topologyManagerPolicyOptions", "topology-manager-scope": "topologyManagerScope",
		"volume-plugin-dir": "volumePluginDir", "volume-stats-agg-period": "volumeStatsAggPeriod",
	} {
		all = append(all, KubeletFlag{Name: name, Field: field})
	}
	for name, field := range map[string]string{
		"anonymous-auth": "authentication.anonymous.enabled", "authentication-token-webhook": "authentication.webhook.enabled", "cgroups-per-qos": "cgroupsPerQOS",
		"contention-profiling": "enableContentionProfiling", "cpu-cfs-quota": "cpuCFSQuota", "enable-debugging-handlers": "enableDebuggingHandlers", "enable-server": "enableServer",
		"fail-cgroupv1": "failCgroupV1", "fail-swap-on": "failSwapOn", "kernel-memcg-notification": "kernelMemcgNotification",
		"local-storage-capacity-isolation": "localStorageCapacityIsolation", "make-iptables-util-chains": "makeIPTablesUtilChains",
		"protect-kernel-defaults": "protectKernelDefaults", "seccomp-default": "seccompDefault",
	} {
		all = append(all, KubeletFlag{Name: name, Field: field, Switch: true})
	}
	slices.SortFunc(all, func(a, b KubeletFlag) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// klogFlags are those of Kubernetes' logging.
func klogFlags() []KubeletFlag {
	var all []KubeletFlag
	for _, name := range []string{"vmodule", "log-backtrace-at", "log-dir", "log-file", "log-file-max-size", "stderrthreshold", "log-flush-frequency",
		"log-json-info-buffer-size", "log-text-info-buffer-size"} {
		all = append(all, KubeletFlag{Name: name, Effect: ofProcess, Instead: "the log goes to stderr"})
	}
	for _, name := range []string{"logtostderr", "alsologtostderr", "add-dir-header", "one-output", "skip-headers", "skip-log-headers",
		"log-json-split-stream", "log-text-split-stream"} {
		all = append(all, KubeletFlag{Name: name, Effect: ofProcess, Instead: "the log goes to stderr", Switch: true})
	}
	return append(all, KubeletFlag{Name: "logging-format", Instead: "--log-format is its name here"})
}

// cadvisorFlags are those that a kubelet keeps for the sake of old command lines.
func cadvisorFlags() []KubeletFlag {
	var all []KubeletFlag
	for _, name := range []string{"application-metrics-count-limit", "boot-id-file", "container-hints", "containerd", "containerd-namespace",
		"event-storage-age-limit", "event-storage-event-limit", "global-housekeeping-interval", "housekeeping-interval", "machine-id-file",
		"storage-driver-buffer-duration", "storage-driver-db", "storage-driver-host", "storage-driver-password", "storage-driver-table", "storage-driver-user",
		"docker", "docker-env-metadata-whitelist", "docker-tls-ca", "docker-tls-cert", "docker-tls-key"} {
		all = append(all, KubeletFlag{Name: name, Effect: ofProcess})
	}
	for _, name := range []string{"enable-load-reader", "log-cadvisor-usage", "docker-only", "docker-tls", "storage-driver-secure"} {
		all = append(all, KubeletFlag{Name: name, Effect: ofProcess, Switch: true})
	}
	return all
}

// TakeKubeletFlags takes the flags of a kubelet that podstead has not, with their
// values, out of the arguments of `podstead run`. As in a kubelet, _ counts as -.
func TakeKubeletFlags(args []string) (rest []string, taken []KubeletFlag) {
	known := map[string]KubeletFlag{}
	for _, f := range KubeletFlags() {
		known[f.Name] = f
	}
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(rest, args[i:]...), taken
		}
		text, long := strings.CutPrefix(args[i], "--")
		name, _, valued := strings.Cut(text, "=")
		f, is := known[strings.ReplaceAll(name, "_", "-")]
		if !long || !is {
			rest = append(rest, args[i])
			continue
		}
		taken = append(taken, f)
		if !f.Switch && !valued && i+1 < len(args) {
			i++ // its value
		}
	}
	return rest, taken
}

// kubelets are the faults and warnings of the kubelet's flags that were given.
func (r Flags) kubelets(f *faults) (warnings []string) {
	for _, flag := range r.Kubelet {
		if flag.refused() {
			f.add("--"+flag.Name, "%s", flag.told())
		} else {
			warnings = append(warnings, flag.told())
		}
	}
	return warnings
}
