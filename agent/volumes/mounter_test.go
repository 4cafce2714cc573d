package volumes

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseMounts(t *testing.T) {
	const text = `27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
36 27 98:0 /mnt1 /mnt/a\040b\134c rw,noatime master:1 shared:7 - tmpfs tmpfs rw,errors=continue
37 27 0:39 / /odd\9 rw - proc proc rw
`
	got, err := parseMounts(strings.NewReader(text))
	want := []Mount{{"/", "ext4"}, {`/mnt/a b\c`, "tmpfs"}, {`/odd\9`, "proc"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	if _, err := parseMounts(strings.NewReader("36 27 98:0 / /mnt rw\n")); err == nil {
		t.Error("a line without a type was understood")
	}
}
