package manifests

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// B32: what a release has given a pod as its identity, every later one gives
// it too, or an upgrade would restart everything. There is no way to update
// this table: a line may be added, none may change.
func TestIdentityNeverChanges(t *testing.T) {
	golden, err := os.ReadFile("testdata/identity.golden")
	if err != nil {
		t.Fatal(err)
	}
	recorded := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(golden)), "\n") {
		file, uid, _ := strings.Cut(line, " ")
		recorded[file] = uid
	}
	files, err := filepath.Glob("testdata/identity/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		file := filepath.Base(path)
		t.Run(file, func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(runnable(t, string(data)).UID); got != recorded[file] {
				t.Errorf("%s %s, recorded %q", file, got, recorded[file])
			}
		})
		delete(recorded, file)
	}
	if len(recorded) > 0 {
		t.Errorf("manifests are gone: %v", recorded)
	}
}

// The framing, written out by hand.
func TestIdentityIsWhatItsCommentSays(t *testing.T) {
	data, err := os.ReadFile("testdata/identity/placed.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const framed = `{"annotations":{"container.apparmor.security.beta.kubernetes.io/a":"runtime/default"},` +
		`"name":"placed","namespace":"kube-system","node":"edge01","spec":{` +
		`"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"disk","operator":"In","values":["ssd","nvme"]}]}]}}},` +
		`"containers":[{"image":"busybox","imagePullPolicy":"Never","name":"a"}],` +
		`"nodeName":"edge01","nodeSelector":{"kubernetes.io/os":"linux"},"tolerations":[{"operator":"Exists"}]}}`
	sum := sha256.Sum256([]byte(framed))
	if got, want := string(runnable(t, string(data)).UID), hex.EncodeToString(sum[:16]); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

const web = `apiVersion: v1
kind: Pod
metadata:
  name: web
  labels: {app: web}
spec:
  terminationGracePeriodSeconds: 16
  hostNetwork: true
  containers:
  - name: web
    image: nginx:1.25 # stable
    args: ["-v"]
`

func TestIdentityIsTheSame(t *testing.T) {
	for name, data := range map[string]string{
		"with carriage returns (B22)": strings.ReplaceAll(web, "\n", "\r\n"),
		"with a byte order mark":      "\xef\xbb\xbf" + web,
		"without comments":            strings.Replace(web, " # stable", "", 1),
		"after other documents":       "# first\n---\n---\n" + web,
		"of other labels":             strings.Replace(web, "app: web", "app: shop", 1),
		"with an annotation":          strings.Replace(web, "labels: {app: web}", "annotations: {a: b}", 1),
		"with a uid (B17)":            strings.Replace(web, "labels: {app: web}", "uid: fixed-1", 1),
		"with its namespace":          strings.Replace(web, "labels: {app: web}", "namespace: default", 1),
		"with nulls":                  strings.Replace(web, "hostNetwork: true", "hostNetwork: true\n  hostname: ~\n  volumes:", 1),
		"in other words":              strings.NewReplacer("16", "0x10", "true", "yes", `["-v"]`, `['-v']`).Replace(web),
		"in another order":            "spec:\n  hostNetwork: true\n  containers:\n  - args: [-v]\n    image: \"nginx:1.25\"\n    name: web\n  terminationGracePeriodSeconds: 16\nmetadata: {name: web}\nkind: Pod\napiVersion: v1\n",
		"in JSON":                     `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web"},"spec":{"hostNetwork":true,"terminationGracePeriodSeconds":1.6e1,"containers":[{"name":"web","image":"nginx:1.25","args":["-v"]}]}}`,
		"in a List":                   "apiVersion: v1\nkind: List\nitems:\n- " + indent(web),
		"in a PodList":                "apiVersion: v1\nkind: PodList\nitems:\n- " + strings.Replace(indent(web), "apiVersion: v1\n  kind: Pod\n  ", "", 1),
		"with a status":               web + "status: {phase: Running}\n",
	} {
		t.Run(name, func(t *testing.T) {
			if got, want := runnable(t, data).UID, runnable(t, web).UID; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
	for name, opts := range map[string]Options{
		"of another source": {Node: edge.Node, Kind: "git"},
		"lower case":        {Node: Node{Name: "EDGE01"}, Kind: "file"},
		"labelled node":     {Node: Node{Name: "edge01", Labels: map[string]string{"a": "b"}}, Kind: "file"},
	} {
		t.Run(name, func(t *testing.T) {
			pod, _, _ := Static(decodeOne(t, web), opts)
			if want := runnable(t, web).UID; pod.UID != want {
				t.Errorf("got %s, want %s", pod.UID, want)
			}
		})
	}
}

// What was written is enough to make the pod again: a record needs nothing else.
func TestWrittenMakesTheSamePod(t *testing.T) {
	first := runnable(t, web)
	second := runnable(t, string(first.Written))
	if first.UID != second.UID || string(first.Written) != string(second.Written) {
		t.Errorf("%s\n%s", first.Written, second.Written)
	}
}

func TestIdentityIsAnother(t *testing.T) {
	for name, data := range map[string]string{
		"name":                  strings.Replace(web, "name: web\n  labels", "name: shop\n  labels", 1),
		"namespace":             strings.Replace(web, "labels: {app: web}", "namespace: home", 1),
		"image (B17)":           strings.Replace(web, "1.25", "1.26", 1),
		"a default written out": strings.Replace(web, "hostNetwork", "restartPolicy: Always\n  hostNetwork", 1),
		"order of a list":       strings.Replace(web, `["-v"]`, `["-q", "-v"]`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			if runnable(t, data).UID == runnable(t, web).UID {
				t.Error("the same identity")
			}
		})
	}
	other, _, _ := Static(decodeOne(t, web), Options{Node: Node{Name: "edge02"}, Kind: "file"})
	if other.UID == runnable(t, web).UID {
		t.Error("the same identity on another node")
	}
}
