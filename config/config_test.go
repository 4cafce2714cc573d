package config

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	kubelet "k8s.io/kubelet/config/v1beta1"
)

// parseRun parses the arguments of `podstead run` as main does.
func parseRun(t *testing.T, args ...string) Flags {
	t.Helper()
	var command struct {
		Flags
		Output string `name:"output" short:"o"`
	}
	parser, err := kong.New(&command, kong.Exit(func(int) { t.Fatal("kong exits") }))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(args); err != nil {
		t.Fatal(err)
	}
	command.Flags.Output = command.Output
	return command.Flags
}

const header = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"

func TestPrecedence(t *testing.T) {
	cases := []struct {
		name string
		file string // below the header; "" for no file
		env  map[string]string
		args []string
		want int // maxPods
	}{
		{name: "default", want: 110},
		{name: "file over default", file: "maxPods: 20\n", want: 20},
		{name: "zero in the file is the default", file: "maxPods: 0\n", want: 110},
		{name: "variable over file", file: "maxPods: 20\n", env: map[string]string{"PODSTEAD_MAX_PODS": "30"}, want: 30},
		{name: "flag over variable", file: "maxPods: 20\n", env: map[string]string{"PODSTEAD_MAX_PODS": "30"}, args: []string{"--max-pods=40"}, want: 40},
		{name: "an empty variable is none", file: "maxPods: 20\n", env: map[string]string{"PODSTEAD_MAX_PODS": ""}, want: 20},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			args := c.args
			if c.file != "" {
				args = append(args, "--config", write(t, t.TempDir(), "kubelet.yaml", header+c.file))
			}
			for k, v := range c.env {
				t.Setenv(k, v)
			}
			got, _, err := Loader{Flags: parseRun(t, args...), Etc: t.TempDir()}.Load()
			if err != nil || got.MaxPods != c.want {
				t.Errorf("maxPods %d, %v; want %d", got.MaxPods, err, c.want)
			}
		})
	}
}

func TestEveryFlagAndFieldArrives(t *testing.T) {
	root := t.TempDir()
	got, warnings, err := Loader{Flags: parseRun(t,
		"--pod-manifest-path", "/m/a", "--pod-manifest-path=/m/b.yaml", "--root-dir", root, "--hostname-override", "edge",
		"--node-labels", "zone=a, tier=", "--docker-endpoint", "/run/d.sock", "--pod-cidr=10.9.0.0/24", "--max-pods=7",
		"--file-check-frequency=3s", "--sync-frequency=4m", "--serialize-image-pulls=false", "--container-log-max-size=1Mi",
		"--container-log-max-files=3", "--once", "--runonce-timeout=9s",
		"--manifest-url=https://u/p", "--manifest-url-header=A: x,B:y", "--manifest-url-header", "A:z", "--http-check-frequency=5s",
		"--git-url=https://me@h/r", "--git-ref=v1", "--git-path=a", "--git-path=b", "--git-poll-interval=7s", "--git-username=me", "--git-password-file=/pw",
		"--git-ca-file=/ca", "-o", "json", "--v=2", "--log-level=debug", "--log-format=json",
		"--pods-per-core=3", "--kube-reserved=cpu=200m,memory=1Gi,pid=100", "--system-reserved=cpu=1", "--registry-qps=2", "--registry-burst=4",
		"--streaming-connection-idle-timeout=6m", "--cgroup-driver=systemd"), Etc: t.TempDir()}.Load()
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	want := "{RootDir:" + root + " Socket:" + root + "/run/podstead.sock Hostname:edge NodeLabels:map[tier: zone:a] DockerEndpoint:unix:///run/d.sock CgroupDriver:systemd " +
		"File: PodLogsDir:" + root + "/log/pods Manifests:[/m/a /m/b.yaml] HTTP:{URL:https://u/p Headers:map[A:[[hidden] [hidden]] B:[[hidden]]] BasicAuth:<nil> BearerTokenFile: CAFile: ClientCertFile: ClientKeyFile: " +
		"Proxy: Timeout:0 IdleTimeout:0 MaxBodySize:0} Git:{URL:https://me@h/r Ref:v1 Paths:[a b] Include:[] Exclude:[] Username:me PasswordFile:/pw SSHKeyFile: SSHKeyPassphraseFile: " +
		"KnownHostsFile: CAFile:/ca Timeout:0 MaxPackSize:0} GitPollInterval:7s Listed:[] Webhook:<nil> FileCheckFrequency:3s HTTPCheckFrequency:5s SyncFrequency:4m0s StreamIdleTimeout:6m0s MaxRestartPeriod:5m0s " +
		"MaxPods:7 PodsPerCore:3 KubeReserved:cpu=200m,memory=1Gi SystemReserved:cpu=1 PodCIDR:10.9.0.0/24 SerializeImagePulls:false MaxParallelImagePulls:0 RegistryQPS:2 RegistryBurst:4 LogMaxSize:1048576 LogMaxFiles:3 " +
		"Once:true OnceTimeout:9s OnceOutput:json LogLevel:DEBUG LogFormat:json Origins:map[]}"
	for key, origin := range got.Origins {
		if origin.From != FromFlag || origin.Place != "--"+key {
			t.Errorf("origin of %s: %+v", key, origin)
		}
	}
	got.Origins = nil
	if text := fmt.Sprintf("%+v", got); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	if a := got.HTTP.Headers["A"]; len(a) != 2 || string(a[0]) != "x" || string(a[1]) != "z" {
		t.Error("header A is not x, z")
	}

	got, _, err = Loader{Flags: parseRun(t, "--git-url=git@h:o/r", "--git-ssh-key=/key", "--git-ssh-key-passphrase-file=/pass", "--git-known-hosts=/kh"), Etc: t.TempDir()}.Load()
	if g := got.Git; err != nil || g.SSHKeyFile != "/key" || g.SSHKeyPassphraseFile != "/pass" || g.KnownHostsFile != "/kh" {
		t.Errorf("from the ssh flags: %+v, %v", g, err)
	}

	file := write(t, t.TempDir(), "k.yaml", header+
		"staticPodPath: /k/manifests\nstaticPodURL: http://k/p\nstaticPodURLHeader: {H: [v, w]}\nhttpCheckFrequency: 3m\nfileCheckFrequency: 1m\nsyncFrequency: 2m\nserializeImagePulls: false\ncontainerLogMaxSize: 2Mi\ncontainerLogMaxFiles: 9\n"+
		"podsPerCore: 2\nkubeReserved: {cpu: 100m, memory: 1Mi}\nsystemReserved: {memory: 2Mi}\npodCIDR: fd00::/64,10.8.0.0/24\nmaxParallelImagePulls: 3\nregistryPullQPS: 4\nregistryBurst: 6\n"+
		"podLogsDir: /l\nstreamingConnectionIdleTimeout: 7m\ncrashLoopBackOff: {maxContainerRestartPeriod: 30s}\ncgroupDriver: cgroupfs\nlogging: {format: json, verbosity: 5}\nrunOnce: true\n")
	got, warnings, err = Loader{Flags: parseRun(t, "--config", file), Etc: t.TempDir()}.Load()
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	if got.Manifests[0] != "/k/manifests" || got.FileCheckFrequency != time.Minute || got.SyncFrequency != 2*time.Minute ||
		got.SerializeImagePulls || got.LogMaxSize != 2<<20 || got.LogMaxFiles != 9 || got.LogLevel != slog.LevelDebug || got.LogFormat != "json" ||
		got.PodsPerCore != 2 || got.KubeReserved != (Resources{100, 1 << 20}) || got.SystemReserved != (Resources{0, 2 << 20}) || got.PodCIDR.String() != "10.8.0.0/24" ||
		got.MaxParallelImagePulls != 3 || got.RegistryQPS != 4 || got.RegistryBurst != 6 || got.PodLogsDir != "/l" || got.StreamIdleTimeout != 7*time.Minute ||
		got.MaxRestartPeriod != 30*time.Second || got.CgroupDriver != "cgroupfs" || !got.Once ||
		got.HTTP.URL != "http://k/p" || len(got.HTTP.Headers["H"]) != 2 || got.HTTPCheckFrequency != 3*time.Minute {
		t.Errorf("from the file: %+v", got)
	}
}

func TestWhereManifestsComeFrom(t *testing.T) {
	cases := []struct {
		name      string
		byDefault string // content of the default file
		args      []string
		env       string
		want      string
	}{
		{name: "nothing said", want: "ETC/manifests"},
		{name: "the default file", byDefault: "staticPodPath: /from/file\n", want: "/from/file"},
		{name: "the default file names none", byDefault: "maxPods: 3\n", want: "ETC/manifests"},
		{name: "the default file lists sources", byDefault: "---\n" + documentHeader + "sources: [{name: u, http: {url: 'http://h/'}}]\n", want: ""},
		{name: "a URL of a flag is a source too", byDefault: "maxPods: [broken\n", args: []string{"--manifest-url=http://h/"}, want: ""},
		{name: "so is a repository", byDefault: "maxPods: [broken\n", args: []string{"--git-url=https://h/r"}, want: ""},
		{name: "a flag leaves the default file unread", byDefault: "maxPods: [broken\n", args: []string{"--pod-manifest-path=/flag"}, want: "/flag"},
		{name: "so does a variable", byDefault: "maxPods: [broken\n", env: "/v1,/v2", want: "/v1 /v2"},
		{name: "a flag replaces staticPodPath", byDefault: "staticPodPath: /from/file\n", args: []string{"--config=ETC/config.yaml", "--pod-manifest-path=/flag"}, want: "/flag"},
		{name: "relative paths are made absolute", args: []string{"--pod-manifest-path=here"}, want: "CWD/here"},
	}
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			etc := t.TempDir()
			if c.byDefault != "" {
				write(t, etc, "config.yaml", header+c.byDefault)
			}
			if c.env != "" {
				t.Setenv("PODSTEAD_POD_MANIFEST_PATH", c.env)
			}
			for i := range c.args {
				c.args[i] = strings.ReplaceAll(c.args[i], "ETC", etc)
			}
			got, _, err := Loader{Flags: parseRun(t, c.args...), Etc: etc}.Load()
			want := strings.NewReplacer("ETC", etc, "CWD", cwd).Replace(c.want)
			if err != nil || strings.Join(got.Manifests, " ") != want {
				t.Errorf("%v, %v; want %s", got.Manifests, err, want)
			}
		})
	}
}

func TestEveryFaultIsTold(t *testing.T) {
	file := write(t, t.TempDir(), "k.yaml", header+"maxPod: 3\nmaxPods: many\nsyncFrequency: 5 minutes\nMaxPods: 3\ncontainerLogMaxSize: big\n")
	t.Setenv("PODSTEAD_PODS_PER_CORE", "few")
	_, _, err := Loader{Flags: parseRun(t, "--config", file, "--max-pods=many", "--sync-frequency=soon", "--serialize-image-pulls=maybe",
		"--container-log-max-size=huge", "--container-log-max-files=1", "--node-labels=a", "--pod-cidr=10.0.0.1/8", "--docker-endpoint=npipe:x",
		"--runonce-timeout=-1s", "--log-level=loud",
		"--http-check-frequency=0s", "--git-poll-interval=x", "--manifest-url=ftp://h", "--manifest-url-header=hidden-value", "--git-url=https://u:p@h/r", "--git-ref=bad..ref", "--log-format=xml", "--root-dir=/", "--pod-manifest-path=/a", "--pod-manifest-path=/a/", "-o", "table"), Etc: t.TempDir()}.Load()
	var bad *Error
	if !errors.As(err, &bad) {
		t.Fatalf("error %v", err)
	}
	for _, part := range []string{
		"k.yaml:3:1: maxPod: unknown field", "k.yaml:4:1: maxPods: ", "k.yaml:5:1: syncFrequency: ", "k.yaml:6:1: MaxPods: unknown field; did you mean maxPods?",
		`--max-pods (maxPods): "many" is not a whole number`, `--pods-per-core (from $PODSTEAD_PODS_PER_CORE): "few" is not`, "--sync-frequency (syncFrequency): ", "--serialize-image-pulls (serializeImagePulls): ", "--container-log-max-size (containerLogMaxSize): ",
		"--container-log-max-files (containerLogMaxFiles): must be at least 2, is 1", `--node-labels: "a" is not of the form`, "--pod-cidr (podCIDR): must be",
		"--docker-endpoint: must be", "--runonce-timeout: must be above 0", `--log-level (logging.verbosity): "loud"`, "--log-format (logging.format): must be", "--root-dir: must be",
		"/a is named twice", "--output: ",
		"--http-check-frequency (httpCheckFrequency): must be above 0", "--git-poll-interval: ", "--manifest-url (staticPodURL): must be like https://",
		"--manifest-url-header (staticPodURLHeader): number 1 is not of the form NAME:VALUE", "--git-url: must be like",
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("not told: %s", part)
		}
	}
	if t.Failed() {
		t.Log(err)
	}
	if strings.Contains(err.Error(), "hidden-value") {
		t.Error("a header's value is told")
	}
}

func TestFilesOfOtherKindsAreRefused(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"empty", "\n# nothing\n---\n", "holds no configuration"},
		{"text", "hello", "not an object"},
		{"a list", "[]", "not an object"},
		{"a pod", "apiVersion: v1\nkind: Pod\n", `is apiVersion "v1", kind "Pod"`},
		{"another version", "apiVersion: kubelet.config.k8s.io/v1alpha1\nkind: KubeletConfiguration\n", "v1alpha1"},
		{"our own kind of another version", "apiVersion: podstead/v1\nkind: Configuration\n", `is apiVersion "podstead/v1"`},
		{"one kind twice", header + "---\n" + header, "k.yaml:3: a second KubeletConfiguration; the first is at line 1"},
		{"our own kind twice", documentHeader + "---\n---\n" + documentHeader, "k.yaml:4: a second Configuration; the first is at line 1"},
		{"a key twice", header + "maxPods: 1\nmaxPods: 2\n", "maxPods"},
		{"a tab", header + "maxPods:\n\t- 1\n", "document at line 1"},
		{"an effectless field of a wrong type", header + "cgroupsPerQOS: perhaps\n", ":3:1: cgroupsPerQOS"},
		{"an unknown key inside a field", header + "authentication:\n  anonymus: {}\n", ":3:1: authentication"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if _, err := decodeConfig("k.yaml", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestFieldsWithoutEffectAreWarnedOf(t *testing.T) {
	text := "---\n" + header + "hairpinMode: none\nport: 0\nnodeLeaseDurationSeconds: 40\nenableServer: false\nlogging: {flushFrequency: 5s, verbosity: 2}\nclusterDNS: null\nconfigTrialDuration: 10m\nmaxPods: 5\n" +
		"authentication:\n  webhook: {enabled: true, cacheTTL: 2m}\n  x509: {}\nmemorySwap: {}\n"
	got, err := decodeConfig("k.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"k.yaml:12:1: authentication has no effect in podstead: " + string(ofServer),
		"k.yaml:10:1: configTrialDuration is of another Kubernetes release and has no effect in podstead",
		"k.yaml:7:1: enableServer has no effect in podstead: " + string(ofServer),
		"k.yaml:4:1: hairpinMode has no effect in podstead: " + string(ofEngine),
		"k.yaml:8:11: logging.flushFrequency has no effect in podstead: " + string(ofProcess),
		"k.yaml:6:1: nodeLeaseDurationSeconds has no effect in podstead: " + string(ofAPIServer),
	}
	if !reflect.DeepEqual(got.warnings, want) {
		t.Errorf("got  %q\nwant %q", got.warnings, want)
	}
}

func TestFormerFieldsAreNoneOfThisRelease(t *testing.T) {
	var k kubelet.KubeletConfiguration
	fields := fieldsOf(reflect.ValueOf(&k).Elem())
	for _, name := range formerFields() {
		if _, ok := fields[name]; ok {
			t.Errorf("%s is a field of this release", name)
		}
	}
}

func TestWhereTheSocketIs(t *testing.T) {
	cases := []struct{ name, root, socket, want string }{
		{"default", "", "", "/run/podstead/podstead.sock"},
		{"default root-dir, written out", "/var/lib/podstead/", "", "/run/podstead/podstead.sock"},
		{"other root-dir", "/srv/p", "", "/srv/p/run/podstead.sock"},
		{"named", "/srv/p", "/tmp/s", "/tmp/s"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := SocketPath(c.root, c.socket); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A field that is not known does not hide a value out of range.
func TestFaultsOfAllKindsInAFileAreToldAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "k.yaml")
	if err := os.WriteFile(path, []byte(header+"maxPod: 5\nmaxPods: -1\ncontainerLogMaxFiles: 1\ncontainerLogMaxSize: huge\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := Loader{Flags: Flags{Config: path}, Etc: t.TempDir()}.Load()
	for _, part := range []string{"maxPod: unknown field", "--max-pods", "--container-log-max-files", "containerLogMaxSize"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s is not told: %v", part, err)
		}
	}
}
