package manifests

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A digest that changes restarts the pods that asked for it: what a release has
// recorded of an object, every later one computes. A line may be added to the
// goldens, none may change.
func TestDigestsNeverChange(t *testing.T) {
	golden, err := os.ReadFile("testdata/digest.golden")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	files, _ := filepath.Glob("testdata/digest/*")
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		digest := usable(t, string(data)).Digest
		got = append(got, filepath.Base(path)+" "+hex.EncodeToString(digest[:]))
	}
	sameLines(t, got, strings.Split(strings.TrimSpace(string(golden)), "\n"))
}

// The framing, written out by hand.
func TestDigestIsWhatItsCommentSays(t *testing.T) {
	const n = "\x00\x00\x00\x00\x00\x00\x00"
	framed := n + "\x06Secret" + n + "\x06Opaque" + n + "\x00" + // no data is missing: immutable is not set
		n + "\x02" + n + "\x04code" + n + "\x041234" + n + "\x04user" + n + "\x03ada"
	data, err := os.ReadFile("testdata/digest/opaque.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if got := usable(t, string(data)).Digest; got != sha256.Sum256([]byte(framed)) {
		t.Errorf("got %x", got)
	}
}

func TestDigestTellsWhatAReaderCanSee(t *testing.T) {
	const plain = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {b: c, d: e}\n"
	for _, tc := range []struct {
		name, data string
		same       bool
	}{
		{name: "order, comments, quotes", data: "kind: ConfigMap\napiVersion: v1\ndata:\n  d: 'e' # five\n  b: c\nmetadata: {name: a}\n", same: true},
		{name: "JSON", data: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"b":"c","d":"e"}}`, same: true},
		{name: "labels and annotations", data: strings.Replace(plain, "name: a", "name: a, labels: {x: z}, annotations: {x: z}", 1), same: true},
		{name: "immutable written out", data: plain + "immutable: false\n", same: true},
		{name: "an empty bag", data: plain + "binaryData: {}\n", same: true},
		{name: "a null", data: plain + "binaryData: null\n", same: true},
		{name: "another name", data: strings.Replace(plain, "name: a", "name: z", 1), same: true}, // the name is compared beside it
		{name: "immutable", data: plain + "immutable: true\n"},
		{name: "a value", data: strings.Replace(plain, "b: c", "b: cc", 1)},
		{name: "a key", data: strings.Replace(plain, "b: c", "bb: c", 1)},
		{name: "a key less", data: strings.Replace(plain, "b: c, ", "", 1)},
		{name: "a value moved to the next key", data: strings.Replace(plain, "b: c, d: e", "b: '', cd: e", 1)},
		{name: "binary instead", data: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nbinaryData: {b: Yw==, d: ZQ==}\n"},
		{name: "a Secret of the same", data: "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {b: c, d: e}\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if same := usable(t, tc.data).Digest == usable(t, plain).Digest; same != tc.same {
				t.Errorf("same digest: %v", same)
			}
		})
	}
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {b: c}\n"
	if usable(t, secret).Digest == usable(t, secret+"type: example.com/other\n").Digest {
		t.Error("the type of a Secret does not count")
	}
}
