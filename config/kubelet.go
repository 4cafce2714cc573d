package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	yamlnode "go.yaml.in/yaml/v4"
	"sigs.k8s.io/yaml"
)

// decodeFields decodes each field by itself, so that every fault is found, and
// notes what is set and which of that has no effect.
func (f *fileConfig) decodeFields(path string, values map[string]json.RawMessage, root *yamlnode.Node) error {
	var bad []error
	f.places = map[string]string{}
	nodePlaces(root, "", f.places)
	fields := fieldsOf(reflect.ValueOf(&f.kubelet).Elem())
	for _, key := range slices.Sorted(maps.Keys(values)) {
		place := path + f.places[key]
		field, known := fields[key]
		switch {
		case slices.Contains(formerFields(), key):
			f.warnings = append(f.warnings, fmt.Sprintf("%s: %s is of another Kubernetes release and has no effect in podstead", place, key))
		case !known:
			bad = append(bad, fmt.Errorf("%s: %s: unknown field%s", place, key, nearest(key, fields)))
		default:
			if err := yaml.UnmarshalStrict(values[key], field.Addr().Interface()); err != nil {
				bad = append(bad, fmt.Errorf("%s: %s: %s", place, key, plainly(err)))
			} else {
				f.note(path, key, field)
			}
		}
	}
	return errors.Join(bad...)
}

// note keeps which leaves of a field are set, and warns of those without an
// effect: in one line where that is all of them for one reason.
func (f *fileConfig) note(path, key string, field reflect.Value) {
	var mute []string
	reasons := map[Effect]bool{}
	leaves := setLeaves(field, key)
	for _, leaf := range leaves {
		row := fieldRow(leaf)
		if row.Effect == Honoured {
			f.set = append(f.set, leaf)
			continue
		}
		mute = append(mute, leaf)
		reasons[row.Effect] = true
	}
	warn := func(field, why string) {
		f.warnings = append(f.warnings, fmt.Sprintf("%s%s: %s has no effect in podstead: %s", path, f.placeOf(field), field, why))
	}
	if len(mute) > 1 && len(mute) == len(leaves) && len(reasons) == 1 {
		warn(key, string(fieldRow(mute[0]).Effect))
		return
	}
	for _, leaf := range mute {
		warn(leaf, fieldRow(leaf).why())
	}
}

// setLeaves are the paths of the leaves of a field that are not zero.
func setLeaves(v reflect.Value, path string) []string {
	if v.IsZero() {
		return nil
	}
	if structOf(v.Type()) == nil {
		if v.CanAddr() {
			if amount, is := v.Addr().Interface().(interface{ IsZero() bool }); is && amount.IsZero() {
				return nil // a quantity that is written as 0
			}
		}
		return []string{path}
	}
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	var all []string
	fields := fieldsOf(v)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		all = append(all, setLeaves(fields[name], join(path, name))...)
	}
	return all
}

// placeOf is :line:column of a field, or of what it stands in.
func (f *fileConfig) placeOf(field string) string {
	for ; field != ""; field = field[:max(strings.LastIndexByte(field, '.'), 0)] {
		if place, known := f.places[field]; known {
			return place
		}
	}
	return ""
}

// nodePlaces gathers :line:column of each key of nested objects, by path.
func nodePlaces(node *yamlnode.Node, path string, into map[string]string) {
	if node.Kind == yamlnode.AliasNode {
		return // its keys stand elsewhere
	}
	for i := 0; node.Kind == yamlnode.MappingNode && i+1 < len(node.Content); i += 2 {
		key := join(path, node.Content[i].Value)
		into[key] = fmt.Sprintf(":%d:%d", node.Content[i].Line, node.Content[i].Column)
		nodePlaces(node.Content[i+1], key, into)
	}
}

// apply lays the file over c. What it does not set, or sets to zero, stays.
func (f *fileConfig) apply(c *Config) error {
	l := &fileLayer{file: f, into: c}
	k := f.kubelet
	put(l, "staticPodPath", &c.Manifests, []string{k.StaticPodPath})
	put(l, "staticPodURL", &c.HTTP.URL, k.StaticPodURL)
	put(l, "staticPodURLHeader", &c.HTTP.Headers, headersOf(k.StaticPodURLHeader))
	put(l, "fileCheckFrequency", &c.FileCheckFrequency, k.FileCheckFrequency.Duration)
	put(l, "httpCheckFrequency", &c.HTTPCheckFrequency, k.HTTPCheckFrequency.Duration)
	put(l, "syncFrequency", &c.SyncFrequency, k.SyncFrequency.Duration)
	put(l, "streamingConnectionIdleTimeout", &c.StreamIdleTimeout, k.StreamingConnectionIdleTimeout.Duration)
	if d := k.CrashLoopBackOff.MaxContainerRestartPeriod; d != nil {
		put(l, "crashLoopBackOff.maxContainerRestartPeriod", &c.MaxRestartPeriod, d.Duration)
	}
	put(l, "podLogsDir", &c.PodLogsDir, k.PodLogsDir)
	put(l, "cgroupDriver", &c.CgroupDriver, k.CgroupDriver)
	put(l, "logging.format", &c.LogFormat, k.Logging.Format)
	put(l, "logging.verbosity", &c.LogLevel, levelOf(uint32(k.Logging.Verbosity)))
	put(l, "runOnce", &c.Once, k.RunOnce)
	f.applyAmounts(l)
	f.applyPulls(l)
	c.Listed, c.Webhook = f.document.Sources, f.document.Webhook
	for path, place := range f.written.places {
		c.Origins[path] = Origin{From: FromFile, Place: c.File + place, field: path}
	}
	return l.err()
}

func (f *fileConfig) applyAmounts(l *fileLayer) {
	c, k := l.into, f.kubelet
	put(l, "maxPods", &c.MaxPods, int(k.MaxPods))
	put(l, "podsPerCore", &c.PodsPerCore, int(k.PodsPerCore))
	read(l, "kubeReserved", k.KubeReserved, &c.KubeReserved, resourcesOf)
	read(l, "systemReserved", k.SystemReserved, &c.SystemReserved, resourcesOf)
	l.uncounted("kubeReserved", k.KubeReserved)
	l.uncounted("systemReserved", k.SystemReserved)
	read(l, "podCIDR", k.PodCIDR, &c.PodCIDR, firstIPv4)
	read(l, "containerLogMaxSize", k.ContainerLogMaxSize, &c.LogMaxSize, parseSize)
	if n := k.ContainerLogMaxFiles; n != nil && *n != 0 {
		put(l, "containerLogMaxFiles", &c.LogMaxFiles, int(*n))
	}
}

// applyPulls: several pulls at once need no second word, as in the kubelet.
func (f *fileConfig) applyPulls(l *fileLayer) {
	c, k := l.into, f.kubelet
	if n := k.MaxParallelImagePulls; n != nil {
		put(l, "maxParallelImagePulls", &c.MaxParallelImagePulls, int(*n))
		l.check(*n != 0, "maxParallelImagePulls", "must be at least 1, is 0")
		if *n >= 2 && k.SerializeImagePulls == nil {
			c.SerializeImagePulls = false
			c.Origins["serialize-image-pulls"] = c.Origins["maxParallelImagePulls"]
		}
	}
	if k.SerializeImagePulls != nil {
		put(l, "serializeImagePulls", &c.SerializeImagePulls, *k.SerializeImagePulls)
	}
	if k.RegistryPullQPS != nil {
		put(l, "registryPullQPS", &c.RegistryQPS, int(*k.RegistryPullQPS))
	}
	put(l, "registryBurst", &c.RegistryBurst, int(k.RegistryBurst))
}

// fileLayer is a KubeletConfiguration that is being laid over a configuration.
type fileLayer struct {
	faults
	file *fileConfig
	into *Config
}

// put takes the value of a field that is set, and notes where it stands.
func put[T any](l *fileLayer, field string, into *T, value T) {
	if !slices.Contains(l.file.set, field) {
		return
	}
	*into = value
	l.note(field)
}

// read is put for a value that is still to be parsed.
func read[F, T any](l *fileLayer, field string, from F, into *T, parse func(F) (T, error)) {
	if !slices.Contains(l.file.set, field) {
		return
	}
	value, err := parse(from)
	l.note(field)
	l.check(err == nil, field, "%v", err)
	if err == nil {
		*into = value
	}
}

func (l *fileLayer) note(field string) {
	if s, known := byField(field); known {
		l.into.Origins[s.key()] = Origin{From: FromFile, Place: l.into.File + l.file.placeOf(field), field: field}
	}
}

func (l *fileLayer) check(ok bool, field, format string, args ...any) {
	l.faults.check(ok, l.into.File+l.file.placeOf(field)+": "+field, format, args...)
}

// uncounted warns of reserved resources that admission does not count.
func (l *fileLayer) uncounted(field string, pairs map[string]string) {
	for _, name := range []string{"ephemeral-storage", "pid"} {
		if pairs[name] != "" {
			path := join(field, name)
			l.file.warnings = append(l.file.warnings, fmt.Sprintf("%s%s: %s has no effect in podstead: cpu and memory are what it counts", l.into.File, l.file.placeOf(path), path))
		}
	}
}

func headersOf(written map[string][]string) Headers {
	all := Headers{}
	for name, values := range written {
		for _, value := range values {
			all[name] = append(all[name], Secret(value))
		}
	}
	return all
}

// firstIPv4 is the network of a kubelet's podCIDR that the engine's bridge takes;
// a node of two families names one of each.
func firstIPv4(text string) (netip.Prefix, error) {
	for part := range strings.SplitSeq(text, ",") {
		p, err := parsePrefix(strings.TrimSpace(part))
		if err != nil || p.Addr().Is4() {
			return p, err
		}
	}
	return netip.Prefix{}, fmt.Errorf("%q has no IPv4 network, which the pods' bridge needs", text)
}
