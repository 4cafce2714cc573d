package config

import (
	"fmt"
	"log/slog"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// endpoint lets a bare path stand for a unix socket, as the kubelet's flag did.
func endpoint(text string) (string, error) {
	if filepath.IsAbs(text) {
		return "unix://" + text, nil
	}
	return text, nil
}

func asText(text string) (string, error) { return text, nil }

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

// parseVerbosity turns a kubelet's --v into a level: from 4 on Kubernetes'
// components tell what only who debugs them wants.
func parseVerbosity(text string) (slog.Level, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("%q is not a whole number", text)
	}
	return levelOf(uint32(n)), nil
}

func levelOf(verbosity uint32) slog.Level {
	if verbosity >= 4 {
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// parseResources reads cpu=200m,memory=150Mi as the kubelet's flags have it.
func parseResources(text string) (Resources, error) {
	pairs, err := parseLabels(text)
	if err != nil {
		return Resources{}, err
	}
	return resourcesOf(pairs)
}

// resourcesOf reads amounts by resource. The kubelet's other two resources are
// taken and not counted.
func resourcesOf(pairs map[string]string) (Resources, error) {
	var r Resources
	for name, text := range pairs {
		q, err := resource.ParseQuantity(text)
		if err != nil {
			return Resources{}, fmt.Errorf("%s: %q is not an amount like 200m or 150Mi", name, text)
		}
		switch name {
		case "cpu":
			r.MilliCPU = q.MilliValue()
		case "memory":
			r.Memory = q.Value()
		case "ephemeral-storage", "pid":
		default:
			return Resources{}, fmt.Errorf("%q is none of cpu, memory, ephemeral-storage, pid", name)
		}
	}
	return r, nil
}

// String is the form of the flag.
func (r Resources) String() string {
	var parts []string
	if r.MilliCPU != 0 {
		parts = append(parts, "cpu="+resource.NewMilliQuantity(r.MilliCPU, resource.DecimalSI).String())
	}
	if r.Memory != 0 {
		parts = append(parts, "memory="+resource.NewQuantity(r.Memory, resource.BinarySI).String())
	}
	return strings.Join(parts, ",")
}
