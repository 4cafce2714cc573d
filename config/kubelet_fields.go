package config

import (
	"encoding/json"
	"iter"
	"maps"
	"reflect"
	"slices"
)

// Effect is what becomes of a field of a KubeletConfiguration, or of a flag of a
// kubelet, that is set.
type Effect string

// What can become of it: it is honoured, or one of a few plain reasons why it has
// no effect.
const (
	Honoured    Effect = "honoured"
	ofAPIServer Effect = "of the API server, which podstead does not have here"
	ofServer    Effect = "of the kubelet's network port: podstead listens on a unix socket that is root's alone"
	ofEngine    Effect = "of the container runtime: Docker decides"
	ofProcess   Effect = "of the kubelet's own process and its checks of its host"
	ofPods      Effect = "comes with the pod fields that it is about"
	ofGates     Effect = "of Kubernetes' own switches: podstead has none that they could turn"
	ofEviction  Effect = "of eviction, which podstead does not do"
	ofImages    Effect = "of removing images, which podstead does not do"
	ofShutdown  Effect = "of ending pods before the machine goes off, which podstead leaves to Docker and the grace periods that it has set there"
	ofPinning   Effect = "of pinning pods to processors and memory nodes, which podstead does not do"
)

// KubeletField is one field of a KubeletConfiguration.
type KubeletField struct {
	Path   string
	Effect Effect
	Note   string // what it does, or what there is instead
}

// why is the reason for which the field has no effect.
func (f KubeletField) why() string {
	if f.Note == "" {
		return string(f.Effect)
	}
	return string(f.Effect) + "; " + f.Note
}

func fieldRow(path string) KubeletField {
	for _, row := range KubeletFields() {
		if row.Path == path {
			return row
		}
	}
	return KubeletField{Path: path}
}

// KubeletFields says of every field what becomes of it; a test walks the type and
// finds each one here.
func KubeletFields() []KubeletField {
	return slices.Concat(honouredFields(), silent(ofAPIServer, apiServerFields()), silent(ofServer, serverFields()),
		silent(ofEngine, engineFields()), silent(ofProcess, processFields()), silent(ofPods, podFields()), silent(ofGates, []KubeletField{{Path: "featureGates"}}),
		silent(ofEviction, evictionFields()), silent(ofImages, imageFields()), silent(ofShutdown, shutdownFields()), silent(ofPinning, pinningFields()))
}

// formerFields are fields that v1beta1 had in other releases (1.10 to 1.37) than
// the one whose type is built in.
func formerFields() []string { return []string{"configTrialDuration", "logFormat", "loggingConfig"} }

// honouredFields are those that podstead acts on.
func honouredFields() []KubeletField {
	return silent(Honoured, []KubeletField{
		{Path: "apiVersion", Note: "`kubelet.config.k8s.io/v1beta1`"},
		{Path: "kind", Note: "`KubeletConfiguration`"},
		{Path: "staticPodPath", Note: "a folder or file of manifests, the source `file`"},
		{Path: "staticPodURL", Note: "a URL of manifests, the source `http`; its pods are held to policy `edge`"},
		{Path: "staticPodURLHeader", Note: "headers for it; never shown"},
		{Path: "fileCheckFrequency", Note: "how often a folder is read although nothing was heard of it"},
		{Path: "httpCheckFrequency", Note: "how often a URL is asked"},
		{Path: "syncFrequency", Note: "how often all pods are compared with the engine although nothing was heard"},
		{Path: "maxPods", Note: "pods that the node takes"},
		{Path: "podsPerCore", Note: "pods for each CPU, below `maxPods`; 0 for no such limit"},
		{Path: "kubeReserved", Note: "`cpu` and `memory` are kept from pods when they are admitted"},
		{Path: "systemReserved", Note: "the same, added to it"},
		{Path: "podCIDR", Note: "the pods' network; of two families the IPv4 one"},
		{Path: "serializeImagePulls", Note: "one image at a time; `maxParallelImagePulls` above 1 turns it off"},
		{Path: "maxParallelImagePulls", Note: "how many images are pulled side by side; absent for any number"},
		{Path: "registryPullQPS", Note: "pulls that begin each second; others wait (a kubelet fails them); 0 for no limit"},
		{Path: "registryBurst", Note: "pulls that may begin at once in spite of it"},
		{Path: "containerLogMaxSize", Note: "size at which a container's log is rotated"},
		{Path: "containerLogMaxFiles", Note: "files kept of it, at least 2"},
		{Path: "podLogsDir", Note: "where links to the logs are"},
		{Path: "streamingConnectionIdleTimeout", Note: "how long an exec, attach or port-forward may be silent"},
		{Path: "crashLoopBackOff.maxContainerRestartPeriod", Note: "longest delay before a crashed container starts again, 1s to 5m"},
		{Path: "cgroupDriver", Note: "compared with the engine's, whose own it is; a warning tells of a difference"},
		{Path: "logging.format", Note: "`text` or `json`, of the agent's log"},
		{Path: "logging.verbosity", Note: "4 and more is `--log-level debug`"},
		{Path: "runOnce", Note: "start the pods once, report and end, as `--runonce`"},
	})
}

// silent gives rows one effect.
func silent(effect Effect, rows []KubeletField) []KubeletField {
	for i := range rows {
		rows[i].Effect = effect
	}
	return rows
}

// plain are rows without a note.
func plain(paths ...string) []KubeletField {
	rows := make([]KubeletField, len(paths))
	for i, path := range paths {
		rows[i].Path = path
	}
	return rows
}

func apiServerFields() []KubeletField {
	return append(plain("eventBurst", "nodeStatusUpdateFrequency", "nodeStatusReportFrequency",
		"nodeLeaseDurationSeconds", "nodeStatusMaxImages", "contentType", "kubeAPIQPS", "kubeAPIBurst", "enableControllerAttachDetach",
		"providerID", "registerWithTaints", "registerNode", "rotateCertificates", "serverTLSBootstrap"),
		KubeletField{Path: "eventRecordQPS", Note: "podstead's events stay in its memory, and none is dropped for coming fast"},
		KubeletField{Path: "configMapAndSecretChangeDetectionStrategy", Note: "objects come with their source"})
}

func serverFields() []KubeletField {
	return plain("enableServer", "address", "port", "readOnlyPort", "healthzPort", "healthzBindAddress",
		"tlsCertFile", "tlsPrivateKeyFile", "tlsCipherSuites", "tlsCurvePreferences", "tlsMinVersion",
		"authentication.x509.clientCAFile", "authentication.anonymous.enabled", "authentication.webhook.enabled", "authentication.webhook.cacheTTL",
		"authorization.mode", "authorization.webhook.cacheAuthorizedTTL", "authorization.webhook.cacheUnauthorizedTTL",
		"enableDebuggingHandlers", "enableSystemLogHandler", "enableSystemLogQuery", "enableProfilingHandler", "enableDebugFlagsHandler",
		"enableContentionProfiling", "showHiddenMetricsForVersion",
		"tracing.endpoint", "tracing.samplingRatePerMillion")
}

func engineFields() []KubeletField {
	return append(plain("cgroupRoot", "cgroupsPerQOS", "kubeletCgroups", "systemCgroups", "systemReservedCgroup", "kubeReservedCgroup",
		"enforceNodeAllocatable", "runtimeRequestTimeout", "hairpinMode", "makeIPTablesUtilChains", "iptablesMasqueradeBit", "iptablesDropBit",
		"containerLogMaxWorkers", "containerLogMonitorInterval", "memorySwap.swapBehavior", "userNamespaces.idsPerPod"),
		KubeletField{Path: "containerRuntimeEndpoint", Note: "`--docker-endpoint` says where it listens"},
		KubeletField{Path: "imageServiceEndpoint", Note: "`--docker-endpoint` says where it listens"})
}

func processFields() []KubeletField {
	return plain("oomScoreAdj", "maxOpenFiles", "protectKernelDefaults", "failSwapOn", "failCgroupV1", "kernelMemcgNotification",
		"volumePluginDir", "volumeStatsAggPeriod", "localStorageCapacityIsolation",
		"logging.flushFrequency", "logging.vmodule", "logging.options.text.splitStream", "logging.options.text.infoBufferSize",
		"logging.options.json.splitStream", "logging.options.json.infoBufferSize")
}

func podFields() []KubeletField {
	return plain("clusterDomain", "clusterDNS", "resolvConf", "podPidsLimit", "cpuCFSQuota", "cpuCFSQuotaPeriod", "singleProcessOOMKill",
		"allowedUnsafeSysctls", "defaultPodSysctls", "seccompDefault", "memoryThrottlingFactor", "memoryReservationPolicy")
}

func evictionFields() []KubeletField {
	return plain("evictionHard", "evictionSoft", "evictionSoftGracePeriod", "evictionPressureTransitionPeriod", "evictionMaxPodGracePeriod",
		"evictionMinimumReclaim", "mergeDefaultEvictionSettings")
}

func imageFields() []KubeletField {
	return append(plain("imageMinimumGCAge", "imageMaximumGCAge", "imageGCHighThresholdPercent", "imageGCLowThresholdPercent"),
		KubeletField{Path: "imagePullCredentialsVerificationPolicy", Note: "an image that is there may be used"},
		KubeletField{Path: "preloadedImagesVerificationAllowlist", Note: "an image that is there may be used"})
}

func shutdownFields() []KubeletField {
	return plain("shutdownGracePeriod", "shutdownGracePeriodCriticalPods", "shutdownGracePeriodByPodPriority")
}

func pinningFields() []KubeletField {
	return plain("cpuManagerPolicy", "cpuManagerPolicyOptions", "cpuManagerReconcilePeriod", "memoryManagerPolicy", "reservedMemory",
		"topologyManagerPolicy", "topologyManagerScope", "topologyManagerPolicyOptions", "qosReserved", "reservedSystemCPUs")
}

// leaves are the paths of all fields of a type that hold a value, down through
// the objects within it. Lists and maps are one value.
func leaves(t reflect.Type, path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		inner := structOf(t)
		if inner == nil {
			yield(path)
			return
		}
		fields := fieldsOf(reflect.New(inner).Elem())
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			for leaf := range leaves(fields[name].Type(), join(path, name)) {
				if !yield(leaf) {
					return
				}
			}
		}
	}
}

// structOf is the struct that t is or points to, nil for a value that is written
// as one: durations and quantities read themselves.
func structOf(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil
	}
	return t
}
