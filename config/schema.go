package config

import _ "embed"

// schema is written from Document's type and comments by a test, which also keeps
// it true: a program that only prints it need not carry what made it.
//
//go:embed configuration.schema.json
var schema []byte

// Schema is a JSON Schema (draft 2020-12) of a Configuration. Of one it accepts,
// only what takes the whole file to see can still be wrong.
func Schema() []byte { return schema }
