package config

import (
	"reflect"
	"testing"

	kubelet "k8s.io/kubelet/config/v1beta1"
)

// Every field of a KubeletConfiguration has one row that says what becomes of it,
// and no row is about a field that there is not.
func TestEveryFieldOfAKubeletConfigurationHasItsEffect(t *testing.T) {
	rows := map[string]int{}
	for _, row := range KubeletFields() {
		rows[row.Path]++
		if row.Effect == "" {
			t.Errorf("%s has no effect and no reason", row.Path)
		}
	}
	for path := range leaves(reflect.TypeFor[kubelet.KubeletConfiguration](), "") {
		if rows[path] != 1 {
			t.Errorf("%s has %d rows", path, rows[path])
		}
		delete(rows, path)
	}
	for path := range rows {
		t.Errorf("%s is no field", path)
	}
}
