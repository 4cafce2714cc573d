package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// form is how a list is shown: "" for a table, wide, json, yaml, name, or one of
// the forms that take a template after an equals sign.
type form string

// Forms of lists: those that stand alone, and those that need a template.
func plainForms() []string { return []string{"wide", "json", "yaml", "name"} }

func templateForms() []string {
	return []string{"jsonpath", "jsonpath-file", "jsonpath-as-json", "go-template", "go-template-file", "template", "templatefile",
		"custom-columns", "custom-columns-file"}
}

// Decode takes one of the forms, and names them beside what is none.
func (f *form) Decode(ctx *kong.DecodeContext) error {
	text, err := popForm(ctx)
	if err != nil {
		return err
	}
	name, template, given := strings.Cut(text, "=")
	switch {
	case slices.Contains(templateForms(), name):
		if !given || template == "" {
			return fmt.Errorf("%s needs a template: -o %s=…", name, name)
		}
		if _, err := newTemplate(text, true); err != nil {
			return err
		}
	case !slices.Contains(plainForms(), text):
		return fmt.Errorf("%q is not one of %s, %s", text, strings.Join(plainForms(), ", "), strings.Join(templateForms(), "=…, ")+"=…")
	}
	*f = form(text)
	return nil
}

// table reports whether the form is one that people read.
func (f form) table() bool { return f == "" || f == "wide" }

// dataForm is how one thing is shown: "" for text, json or yaml.
type dataForm string

// Decode takes one of the forms, and names them beside what is none.
func (f *dataForm) Decode(ctx *kong.DecodeContext) error {
	text, err := popForm(ctx)
	if err != nil {
		return err
	}
	if forms := []string{"json", "yaml"}; !slices.Contains(forms, text) {
		return fmt.Errorf("%q is not one of %s", text, strings.Join(forms, ", "))
	}
	*f = dataForm(text)
	return nil
}

func popForm(ctx *kong.DecodeContext) (string, error) {
	var text string
	err := ctx.Scan.PopValueInto("form", &text)
	return text, err
}
