package manifests

import "encoding/json"

// Change is one field in which two written documents differ.
type Change struct{ Field, Old, New string }

// Diff lists the fields in which two written documents differ, sorted.
func Diff(old, new json.RawMessage) []Change { return nil }
