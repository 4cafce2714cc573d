package volumes

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// hidden is part of every Secret's value in these tests, and of no text for people.
const hidden = "hunter2"

func withObjects(t *testing.T) *Volumes {
	t.Helper()
	return New(Config{Root: t.TempDir(), Run: filepath.Join(t.TempDir(), "run", "node")})
}

// known is a request of a pod with the objects that these tests know.
func known(volumes ...v1.Volume) Request {
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name, Namespace: "default"} }
	return Request{
		Pod: onPod(volumes...),
		ConfigMaps: map[string]*v1.ConfigMap{
			"app":   {ObjectMeta: meta("app"), Data: map[string]string{"conf": "a=1\n", "extra": ""}, BinaryData: map[string][]byte{"logo": {0xff, 0}}},
			"empty": {ObjectMeta: meta("empty")},
		},
		Secrets: map[string]*v1.Secret{
			"login": {ObjectMeta: meta("login"), Data: map[string][]byte{"user": []byte(hidden), "key": []byte(hidden + "\x00\xff")}},
		},
	}
}

func volume(source v1.VolumeSource) v1.Volume { return v1.Volume{Name: "v", VolumeSource: source} }

func ptr[T any](v T) *T { return &v }

func configMapVolume(name string, change func(*v1.ConfigMapVolumeSource)) v1.Volume {
	source := &v1.ConfigMapVolumeSource{LocalObjectReference: v1.LocalObjectReference{Name: name}}
	if change != nil {
		change(source)
	}
	return volume(v1.VolumeSource{ConfigMap: source})
}

func secretVolume(name string, change func(*v1.SecretVolumeSource)) v1.Volume {
	source := &v1.SecretVolumeSource{SecretName: name}
	if change != nil {
		change(source)
	}
	return volume(v1.VolumeSource{Secret: source})
}

func projectedVolume(mode *int32, sources ...v1.VolumeProjection) v1.Volume {
	return volume(v1.VolumeSource{Projected: &v1.ProjectedVolumeSource{DefaultMode: mode, Sources: sources}})
}

func projectedConfigMap(name string, optional bool, items ...v1.KeyToPath) v1.VolumeProjection {
	return v1.VolumeProjection{ConfigMap: &v1.ConfigMapProjection{LocalObjectReference: v1.LocalObjectReference{Name: name}, Items: items, Optional: &optional}}
}

func projectedSecret(name string, optional bool, items ...v1.KeyToPath) v1.VolumeProjection {
	return v1.VolumeProjection{Secret: &v1.SecretProjection{LocalObjectReference: v1.LocalObjectReference{Name: name}, Items: items, Optional: &optional}}
}

func TestFilesOfObjects(t *testing.T) {
	text := func(s string) file { return file{[]byte(s), 0o644} }
	secretText := file{[]byte(hidden), 0o644}
	tests := []struct {
		name   string
		volume v1.Volume
		want   payload
	}{
		{
			name: "all keys, text and binary", volume: configMapVolume("app", nil),
			want: payload{"conf": text("a=1\n"), "extra": text(""), "logo": text("\xff\x00")},
		},
		{
			name: "items select and rename, their modes win",
			volume: configMapVolume("app", func(s *v1.ConfigMapVolumeSource) {
				s.DefaultMode = ptr(int32(0o440))
				s.Items = []v1.KeyToPath{{Key: "conf", Path: "etc/app.conf"}, {Key: "logo", Path: "logo", Mode: ptr(int32(0o755))}}
			}),
			want: payload{"etc/app.conf": {[]byte("a=1\n"), 0o440}, "logo": {[]byte("\xff\x00"), 0o755}},
		},
		{
			name: "of two items with one path the later counts",
			volume: configMapVolume("app", func(s *v1.ConfigMapVolumeSource) {
				s.Items = []v1.KeyToPath{{Key: "conf", Path: "x"}, {Key: "extra", Path: "./x"}}
			}),
			want: payload{"x": text("")},
		},
		{name: "no keys", volume: configMapVolume("empty", nil), want: payload{}},
		{
			name:   "an optional ConfigMap that is missing is empty (B85)",
			volume: configMapVolume("none", func(s *v1.ConfigMapVolumeSource) { s.Optional = ptr(true) }), want: payload{},
		},
		{
			name: "an optional key that is missing is left out (B85)",
			volume: configMapVolume("app", func(s *v1.ConfigMapVolumeSource) {
				s.Optional = ptr(true)
				s.Items = []v1.KeyToPath{{Key: "none", Path: "none"}, {Key: "conf", Path: "conf"}}
			}),
			want: payload{"conf": text("a=1\n")},
		},
		{
			name: "a Secret", volume: secretVolume("login", func(s *v1.SecretVolumeSource) { s.DefaultMode = ptr(int32(0o400)) }),
			want: payload{"user": {[]byte(hidden), 0o400}, "key": {[]byte(hidden + "\x00\xff"), 0o400}},
		},
		{
			name: "items of a Secret",
			volume: secretVolume("login", func(s *v1.SecretVolumeSource) {
				s.Items = []v1.KeyToPath{{Key: "user", Path: "a/b/user"}}
			}),
			want: payload{"a/b/user": secretText},
		},
		{
			name:   "an optional Secret that is missing is empty",
			volume: secretVolume("none", func(s *v1.SecretVolumeSource) { s.Optional = ptr(true) }), want: payload{},
		},
		{
			name: "projected",
			volume: projectedVolume(ptr(int32(0o440)),
				projectedConfigMap("app", false, v1.KeyToPath{Key: "conf", Path: "conf"}),
				projectedSecret("login", false, v1.KeyToPath{Key: "user", Path: "login/user", Mode: ptr(int32(0o400))}),
				projectedConfigMap("none", true), projectedSecret("none", true)),
			want: payload{"conf": {[]byte("a=1\n"), 0o440}, "login/user": {[]byte(hidden), 0o400}},
		},
		{
			name: "projected, the later of two sources counts",
			volume: projectedVolume(nil,
				projectedConfigMap("app", false), projectedSecret("login", false, v1.KeyToPath{Key: "user", Path: "conf"})),
			want: payload{"conf": secretText, "extra": text(""), "logo": text("\xff\x00")},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			v := withObjects(t)
			for range 2 {
				paths, notes, err := v.SetUp(t.Context(), known(test.volume))
				if err != nil || notes != nil {
					t.Fatal(notes, err)
				}
				tidy(t, paths["v"], test.want)
			}
		})
	}
}

// B86: the kubelet's words, and no value in them.
func TestObjectsThatAreMissing(t *testing.T) {
	key := []v1.KeyToPath{{Key: "k", Path: "p"}}
	tests := []struct {
		name   string
		volume v1.Volume
		want   string
	}{
		{name: "ConfigMap", volume: configMapVolume("x", nil), want: `configmap "x" not found`},
		{name: "Secret", volume: secretVolume("x", nil), want: `secret "x" not found`},
		{
			name: "key of a ConfigMap", volume: configMapVolume("app", func(s *v1.ConfigMapVolumeSource) { s.Items = key }),
			want: "configmap references non-existent config key: k",
		},
		{
			name: "key of a Secret", volume: secretVolume("login", func(s *v1.SecretVolumeSource) { s.Items = key }),
			want: "references non-existent secret key: k",
		},
		{name: "one of a projected volume", volume: projectedVolume(nil, projectedSecret("x", false)), want: `secret "x" not found`},
		{
			name: "several of a projected volume",
			volume: projectedVolume(nil, projectedSecret("x", false), projectedConfigMap("y", false),
				projectedSecret("login", false), projectedConfigMap("app", false, key...)),
			want: `[secret "x" not found, configmap "y" not found, configmap references non-existent config key: k]`,
		},
		{
			name:   "a source of another kind",
			volume: projectedVolume(nil, v1.VolumeProjection{ServiceAccountToken: &v1.ServiceAccountTokenProjection{}}),
			want:   "a projected source that is neither configMap nor secret is not supported",
		},
		{
			name: "an owner", volume: secretVolume("login", func(s *v1.SecretVolumeSource) { s.DefaultUser = ptr(int64(1000)) }),
			want: "an owner for files of a volume is not supported",
		},
		{
			name: "an item's owner",
			volume: secretVolume("login", func(s *v1.SecretVolumeSource) {
				s.Items = []v1.KeyToPath{{Key: "user", Path: "p", User: ptr(int64(1000))}}
			}),
			want: "an owner for files of a volume is not supported",
		},
		{
			name: "a path that leads out",
			volume: secretVolume("login", func(s *v1.SecretVolumeSource) {
				s.Items = []v1.KeyToPath{{Key: "user", Path: "../../x"}}
			}),
			want: `path "../../x" begins with two dots`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			v := withObjects(t)
			paths, _, err := v.SetUp(t.Context(), known(test.volume))
			want := `MountVolume.SetUp failed for volume "v" : ` + test.want
			if err == nil || err.Error() != want || strings.Contains(err.Error(), hidden) {
				t.Errorf("error = %v\nwant    %s", err, want)
			}
			var one *Error
			if !errors.As(err, &one) || one.Stale || len(paths) != 0 {
				t.Errorf("stale %v, paths %v; want neither", one.Stale, paths)
			}
		})
	}
}

// What is secret is where only root goes, however the umask is; within a volume
// every user of a container may walk.
func TestPlacesOfObjects(t *testing.T) {
	defer unix.Umask(unix.Umask(0))
	v := withObjects(t)
	at := func(name string, of v1.Volume) v1.Volume {
		of.Name = name
		return of
	}
	req := known(at("c", configMapVolume("app", nil)), at("s", secretVolume("login", nil)), at("p", projectedVolume(nil, projectedConfigMap("app", false))))
	paths, _, err := v.SetUp(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"c": v.cfg.Root + "/pods/u1/volumes/kubernetes.io~configmap/c",
		"s": v.cfg.Run + "/pods/u1/volumes/kubernetes.io~secret/s",
		"p": v.cfg.Run + "/pods/u1/volumes/kubernetes.io~projected/p",
	}
	if !reflect.DeepEqual(paths, want) {
		t.Errorf("paths = %v, want %v", paths, want)
	}
	for _, path := range paths {
		if got := mode(t, path).Perm(); got != 0o755 {
			t.Errorf("mode of %s = %o, want 755", path, got)
		}
	}
	for dir := filepath.Dir(paths["s"]); dir != filepath.Dir(v.cfg.Run); dir = filepath.Dir(dir) {
		if got := mode(t, dir).Perm(); got != 0o700 {
			t.Errorf("mode of %s = %o, want 700", dir, got)
		}
	}
}

func TestSecretsNeedADirectory(t *testing.T) {
	_, _, err := New(Config{Root: t.TempDir()}).SetUp(t.Context(), known(secretVolume("login", nil)))
	if err == nil || !strings.HasSuffix(err.Error(), "there is no directory in memory for what is secret") {
		t.Errorf("error = %v", err)
	}
}

// Objects of a running pod change at once; what has gone stays as it was, and is
// told.
func TestObjectsOfARunningPod(t *testing.T) {
	v := withObjects(t)
	req := known(configMapVolume("app", nil))
	paths, _, err := v.SetUp(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	held, err := os.Open(paths["v"]) // as a container's mount does
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	changed := &v1.ConfigMap{Data: map[string]string{"conf": "a=2\n", "new": "n"}}
	steps := []struct {
		name      string
		configMap *v1.ConfigMap
		want      payload
		stale     bool
	}{
		{name: "changed", configMap: changed, want: of(map[string]string{"conf": "a=2\n", "new": "n"})},
		{name: "gone", want: of(map[string]string{"conf": "a=2\n", "new": "n"}), stale: true},
		{name: "back", configMap: &v1.ConfigMap{Data: map[string]string{"conf": "a=3\n"}}, want: of(map[string]string{"conf": "a=3\n"})},
	}
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			req.ConfigMaps = map[string]*v1.ConfigMap{"app": step.configMap}
			paths, _, err := v.SetUp(t.Context(), req)
			var fault *Error
			if errors.As(err, &fault) != step.stale || fault != nil && !fault.Stale {
				t.Errorf("error = %v, stale: %v", err, step.stale)
			}
			tidy(t, paths["v"], step.want)
			if _, err := unix.Readlinkat(int(held.Fd()), dataLink, make([]byte, 100)); err != nil {
				t.Errorf("a mount made before does not see it: %v", err)
			}
		})
	}
}

// After a reboot what was in memory is made anew.
func TestSecretsAfterAReboot(t *testing.T) {
	v := withObjects(t)
	req := known(secretVolume("login", nil))
	if _, _, err := v.SetUp(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(v.cfg.Run); err != nil {
		t.Fatal(err)
	}
	paths, _, err := v.SetUp(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	there(t, paths["v"]+"/user")
}

func TestRunThatIsNotInMemoryIsSaidOnce(t *testing.T) {
	if memory, err := inMemory("/proc"); memory || err != nil {
		t.Errorf("/proc: %v, %v", memory, err)
	}
	var log bytes.Buffer
	v := withObjects(t)
	v.cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
	for range 2 {
		if _, _, err := v.SetUp(t.Context(), known(secretVolume("login", nil))); err != nil {
			t.Fatal(err)
		}
	}
	memory, err := inMemory(v.cfg.Run)
	want := 1
	if memory {
		want = 0
	}
	if got := strings.Count(log.String(), "not in memory"); err != nil || got != want {
		t.Errorf("said %d times, want %d (%v): %s", got, want, err, log.String())
	}
}

// Containers mount other volumes inside one that they cannot write to.
func TestMountPointsInVolumesOfObjects(t *testing.T) {
	defer unix.Umask(unix.Umask(0o077))
	v := withObjects(t)
	req := known(configMapVolume("app", nil), emptyDir("cache", ""))
	mounts := &req.Pod.Spec.Containers[0].VolumeMounts
	*mounts = []v1.VolumeMount{
		{Name: "v", MountPath: "/etc/app/"}, {Name: "cache", MountPath: "/etc/app/var/cache"},
		{Name: "cache", MountPath: "/etc/app/var/cache/inner"}, {Name: "cache", MountPath: "/etc/app-other"}, {Name: "cache", MountPath: "etc/app/../app/run"},
	}
	for range 2 {
		paths, _, err := v.SetUp(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"var", "var/cache", "run"} {
			if got := mode(t, filepath.Join(paths["v"], name)); got != fs.ModeDir|0o755 {
				t.Errorf("mode of %s = %v", name, got)
			}
		}
		gone(t, paths["v"]+"/var/cache/inner")
		there(t, paths["v"]+"/conf")
	}
	*mounts = append(*mounts, v1.VolumeMount{Name: "cache", MountPath: "/etc/app/conf/d"})
	req.Pod.UID = "u2"
	_, _, err := v.SetUp(t.Context(), req)
	if err == nil || !strings.HasSuffix(err.Error(), `a mount at "conf/d" in the volume is in the way of its own "conf"`) {
		t.Errorf("error = %v", err)
	}
}

func TestForbiddenHostPaths(t *testing.T) {
	root := t.TempDir()
	v := New(Config{Root: root, Forbids: func(path string) string {
		if strings.HasPrefix(path, root+"/secret") {
			return "hostPath " + path + " is podstead's own; the source needs allowNodeControl: true"
		}
		return ""
	}})
	req := Request{Pod: onPod(hostPath("v", root+"/secret/new", v1.HostPathDirectoryOrCreate), hostPath("w", root+"/open", v1.HostPathDirectoryOrCreate))}
	paths, _, err := v.SetUp(t.Context(), req)
	want := `MountVolume.SetUp failed for volume "v" : hostPath ` + root + `/secret/new is podstead's own; the source needs allowNodeControl: true`
	if err == nil || err.Error() != want || len(paths) != 1 {
		t.Errorf("paths %v, error = %v\nwant %s", paths, err, want)
	}
	gone(t, root+"/secret")
	req.NodeControl = true
	if paths, _, err := v.SetUp(t.Context(), req); err != nil || len(paths) != 2 {
		t.Errorf("with node control: %v, %v", paths, err)
	}
}

func TestTearDownOfObjects(t *testing.T) {
	v := withObjects(t)
	c := configMapVolume("app", nil)
	c.Name = "c"
	if _, _, err := v.SetUp(t.Context(), known(secretVolume("login", nil), c)); err != nil {
		t.Fatal(err)
	}
	write(t, v.cfg.Root+"/pods/u1/pod.json")
	if err := os.MkdirAll(v.cfg.Run+"/pods/lost/volumes/kubernetes.io~secret/s", 0o700); err != nil {
		t.Fatal(err)
	}
	if uids, err := v.Pods(); err != nil || !reflect.DeepEqual(uids, []string{"lost", "u1"}) {
		t.Errorf("pods: %v, %v", uids, err)
	}
	if err := v.Sweep(t.Context(), func(uid string) bool { return uid == "u1" }); err != nil {
		t.Fatal(err)
	}
	gone(t, v.cfg.Run+"/pods/lost")
	there(t, v.cfg.Run+"/pods/u1")
	for range 2 {
		if err := v.TearDown(t.Context(), "u1"); err != nil {
			t.Fatal(err)
		}
		gone(t, v.cfg.Run+"/pods/u1")
		gone(t, v.cfg.Root+"/pods/u1/volumes")
		there(t, v.cfg.Root+"/pods/u1/pod.json")
	}
	if err := v.Sweep(t.Context(), func(string) bool { return false }); err != nil {
		t.Error(err)
	}
}
