package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// form is how a list is shown: "" for a table, wide, json, yaml or name.
type form string

// Decode takes one of the forms, and names them beside what is none.
func (f *form) Decode(ctx *kong.DecodeContext) error {
	return decodeForm(ctx, (*string)(f), "wide", "json", "yaml", "name")
}

// dataForm is how one thing is shown: "" for text, json or yaml.
type dataForm string

// Decode is that of form.
func (f *dataForm) Decode(ctx *kong.DecodeContext) error {
	return decodeForm(ctx, (*string)(f), "json", "yaml")
}

func decodeForm(ctx *kong.DecodeContext, into *string, forms ...string) error {
	var text string
	if err := ctx.Scan.PopValueInto("form", &text); err != nil {
		return err
	}
	if !slices.Contains(forms, text) {
		return fmt.Errorf("%q is not one of %s", text, strings.Join(forms, ", "))
	}
	*into = text
	return nil
}
