package manifests

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/metrics"
	"slices"
	"testing"
)

// FuzzDecode: whatever the bytes, there is an answer: documents or faults, and
// pods only without faults.
func FuzzDecode(f *testing.F) {
	for _, sample := range decodeSamples(f) {
		f.Add(sample)
	}
	f.Fuzz(answer)
}

// The short form, with the same bytes every time: samples of which a few were
// doubled, lost or exchanged.
func TestAnyBytesHaveAnAnswer(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, sample := range decodeSamples(t) {
		for range 10 {
			data := bytes.Clone(sample)
			for range 1 + random.IntN(3) {
				data = altered(data, random)
			}
			if answer(t, data); t.Failed() {
				t.Fatalf("the bytes: %q", data)
			}
		}
	}
}

func altered(data []byte, random *rand.Rand) []byte {
	if len(data) == 0 {
		return data
	}
	const marks = "\n :,-?&*!|>'\"{}[]#%@~<\t\x00\xff0a"
	from := random.IntN(len(data))
	to := min(len(data), from+1+random.IntN(8))
	switch random.IntN(3) {
	case 0:
		return slices.Delete(data, from, to)
	case 1:
		return slices.Insert(data, to, bytes.Clone(data[from:to])...)
	}
	data[from] = marks[random.IntN(len(marks))]
	return data
}

func decodeSamples(t testing.TB) (samples [][]byte) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(yamlSamples)) {
		samples = append(samples, []byte(yamlSamples[name]))
	}
	for _, sample := range []string{lamp, web, "hello", "[]", "null", "\xff\xfe", "a: &x [*x]", "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[]}", podWith("env: [{name: A, value: 1}]", "volumes: [{name: v}]")} {
		samples = append(samples, []byte(sample))
	}
	for _, sample := range []string{
		secretWith("data: {a: YQ==, b: a}\nstringData: {a: b, '..': c}\ntype: kubernetes.io/tls\n"),
		secretWith("type: kubernetes.io/dockerconfigjson\nstringData: {.dockerconfigjson: '{}'}\n"),
		configMapWith("binaryData: {a: //79}\ndata: {a: &x b, c: *x}\nimmutable: true\n"),
		"apiVersion: v1\nkind: SecretList\nitems: [{metadata: {name: a}}]\n",
	} {
		samples = append(samples, []byte(sample))
	}
	files, _ := filepath.Glob("testdata/[id]*/*")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		samples = append(samples, data)
	}
	return samples
}

// answer is what reading must do with any bytes: and it allocates, in all, at most
// what as many values as are allowed cost.
func answer(t *testing.T, data []byte) {
	lim := Limits{Bytes: 1 << 16, Depth: 50, Nodes: 5000, Documents: 20}
	before := allocated()
	docs, faults := Decode("x", data, lim)
	if used := allocated() - before; used > 64<<20 {
		t.Fatalf("%d MiB allocated", used>>20)
	}
	if len(docs) > lim.Documents {
		t.Fatalf("%d documents", len(docs))
	}
	for _, fault := range faults {
		if fault.Message == "" {
			t.Fatalf("a fault without a message at %v", fault.Place)
		}
	}
	for _, doc := range docs {
		checkStatic(t, doc)
		checkObject(t, doc)
	}
}

// allocated is how many bytes were ever allocated.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// checkStatic: a pod that is fit to run is the same when it is read again from
// its canonical form.
func checkStatic(t *testing.T, doc Document) {
	pod, _, faults := Static(doc, edge)
	if (pod.Pod == nil) != (len(faults) > 0) {
		t.Fatalf("pod %v, faults %v", pod.Pod, lines(faults))
	}
	if pod.Pod == nil {
		return
	}
	again, faults := Decode("x", pod.Written, DefaultLimits())
	if len(faults) > 0 || len(again) != 1 {
		t.Fatalf("written %s: faults %v", pod.Written, lines(faults))
	}
	second, _, faults := Static(again[0], edge)
	if len(faults) > 0 || second.UID != pod.UID {
		t.Fatalf("written %s: UID %s, then %s, faults %v", pod.Written, pod.UID, second.UID, lines(faults))
	}
	if changes := Diff(pod.Written, second.Written); len(changes) > 0 {
		t.Fatalf("changes %v", changes)
	}
}

// checkObject: an object that is fit for use is the same when it is read again
// from what an API server would make of it.
func checkObject(t *testing.T, doc Document) {
	object, _, faults := NewObject(doc, edge)
	if (object == nil) != (len(faults) > 0) {
		t.Fatalf("object %v, faults %v", object, lines(faults))
	}
	if object == nil {
		return
	}
	var whole any = object.ConfigMap
	if object.Secret != nil {
		whole = object.Secret
	}
	raw, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	lim := DefaultLimits()
	lim.Bytes *= 4
	again, faults := Decode("x", raw, lim)
	if len(faults) > 0 || len(again) != 1 {
		t.Fatalf("%s: faults %v", raw, lines(faults))
	}
	second, _, faults := NewObject(again[0], edge)
	if len(faults) > 0 {
		t.Fatalf("%s: faults %v", raw, lines(faults))
	}
	if second.Digest != object.Digest || second.Ref() != object.Ref() {
		t.Fatalf("%s: digest %x, then %x", raw, object.Digest, second.Digest)
	}
}

// FuzzWeight: a text has no more nodes than its weight says.
func FuzzWeight(f *testing.F) {
	for _, sample := range yamlSamples {
		f.Add([]byte(sample))
	}
	for _, sample := range []string{
		"- |\n  b\n- c\n", "a: |2\n   b, c\n  d: e\n", "a: [ b\n  - |\n   c, d, e\n ]\n", "a: !!str |\n  k: \"\nb: [c, d]\n",
		"a: \"b\n  c\" # d\ne: 'f'\n", "[a \"b, \"c, d, e\"]\n", "a: [b # ]\n - \"c, \"d, e\"]\n", "? a\n? [b, {c}]\n",
	} {
		f.Add([]byte(sample))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data, fault := cleanText("x", data, Limits{Bytes: 1 << 12})
		if fault != nil {
			return
		}
		if nodes, most := parsedNodes(data), heavy(data); nodes > most {
			t.Fatalf("%q: %d nodes, weight %d", data, nodes, most)
		}
	})
}

// FuzzYAML: what we read, sigs.k8s.io/yaml reads the same.
func FuzzYAML(f *testing.F) {
	for _, sample := range yamlSamples {
		f.Add([]byte(sample))
	}
	lim := Limits{Bytes: 1 << 12, Depth: 50, Nodes: 500}
	f.Fuzz(func(t *testing.T, data []byte) {
		data, fault := cleanText("x", data, lim)
		if fault != nil {
			return
		}
		trees, faults := yamlTrees("x", data, lim)
		if len(trees) != 1 || len(faults) > 0 {
			return
		}
		got, err := canonical(trees[0])
		if err != nil {
			return
		}
		want, err := kubernetesReads(data)
		if err == nil && want != string(got) {
			t.Fatalf("%q\ngot  %s\nwant %s", data, got, want)
		}
	})
}
