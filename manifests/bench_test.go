package manifests

import (
	"os"
	"testing"
)

// BenchmarkPod is one typical manifest, from its bytes to a pod that can run.
func BenchmarkPod(b *testing.B) {
	data, err := os.ReadFile("testdata/typical.yaml")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		docs, faults := Decode("typical.yaml", data, DefaultLimits())
		if len(faults) > 0 {
			b.Fatal(faults)
		}
		if _, _, faults := Static(docs[0], edge); len(faults) > 0 {
			b.Fatal(faults)
		}
	}
}

// BenchmarkDecode is the first half: all that is done for other nodes' pods.
func BenchmarkDecode(b *testing.B) {
	data, err := os.ReadFile("testdata/typical.yaml")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, faults := Decode("typical.yaml", data, DefaultLimits()); len(faults) > 0 {
			b.Fatal(faults)
		}
	}
}
