package manifests

import (
	"strings"
	"testing"
)

func TestImagesWithCredentialsAreRefusedUnseen(t *testing.T) {
	const secret = "S3cret"
	docs, faults := Decode("x.yaml", []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - name: c\n    image: \"bob:"+secret+"@reg.example/x:1\"\n"), DefaultLimits())
	if len(faults) > 0 || len(docs) != 1 {
		t.Fatal(docs, faults)
	}
	_, _, faults = Static(docs[0], Options{Node: Node{Name: "n1"}, Kind: "file"})
	if len(faults) != 1 || faults[0].Place.Line != 7 || faults[0].Place.Field != "spec.containers[0].image" {
		t.Fatalf("faults %v", faults)
	}
	if strings.Contains(faults[0].Error(), secret) {
		t.Errorf("the fault shows the password: %v", faults[0])
	}
}

func TestHoldsCredentials(t *testing.T) {
	for image, want := range map[string]bool{
		"busybox": false, "busybox:1": false, "reg:5000/x:1": false, "reg/x@sha256:abc": false, "x@sha256:abc": false,
		"u:p@reg/x": true, "u@reg:5000/x:1": true,
	} {
		if got := holdsCredentials(image); got != want {
			t.Errorf("%s: %v", image, got)
		}
	}
}
