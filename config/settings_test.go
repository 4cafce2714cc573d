package config

import (
	"log/slog"
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"time"
)

// Whatever is changed in the configuration either takes effect at once or is
// named as what waits for a start.
func TestEveryChangeOfTheConfigurationIsTakenOrNamed(t *testing.T) {
	changed := Config{
		RootDir: "/r", Socket: "/s", Hostname: "h", NodeLabels: map[string]string{"a": "b"}, DockerEndpoint: "unix:///d", File: "/f",
		Manifests: []string{"/m"}, HTTP: HTTP{URL: "http://h"}, Git: Git{URL: "https://h/r"}, GitPollInterval: time.Hour,
		Listed: []Source{{Name: "l"}}, Webhook: &Webhook{Address: ":1"},
		FileCheckFrequency: time.Hour, HTTPCheckFrequency: time.Hour, SyncFrequency: time.Hour, MaxPods: 1, SerializeImagePulls: true,
		CgroupDriver: "systemd", PodLogsDir: "/l", StreamIdleTimeout: time.Hour, MaxRestartPeriod: time.Minute, PodsPerCore: 1,
		KubeReserved: Resources{MilliCPU: 1}, SystemReserved: Resources{Memory: 1}, MaxParallelImagePulls: 2, RegistryQPS: 1, RegistryBurst: 1,
		LogMaxSize: 1, LogMaxFiles: 9, PodCIDR: netip.MustParsePrefix("10.0.0.0/24"), LogLevel: slog.LevelError, LogFormat: "json",
	}
	neither := []string{"Once", "OnceTimeout", "OnceOutput", "Origins"} // of run-once; said by whom
	v := reflect.ValueOf(changed)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if slices.Contains(neither, name) {
			continue
		}
		if v.Field(i).IsZero() {
			t.Errorf("this test changes no %s", name)
			continue
		}
		var next Config
		reflect.ValueOf(&next).Elem().Field(i).Set(v.Field(i))
		effective := Config{}.WithSourcesOf(next)
		effective.Origins = nil
		taken := !reflect.DeepEqual(effective, Config{})
		if named := len(Pending(Config{}, next)) > 0; taken == named {
			t.Errorf("%s: taken at once %v, named as waiting %v", name, taken, named)
		}
	}
}
