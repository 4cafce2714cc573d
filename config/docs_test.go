package config

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	flag.Bool("update", false, "write the generated parts of docs/configuration.md and the schema")
	flag.Parse()
	os.Exit(m.Run())
}

func updating() bool { return flag.Lookup("update").Value.String() == "true" }

// The tables of the page come from the tables of the code.
func TestThePageOnTheConfigurationIsTrue(t *testing.T) {
	const page = "../docs/configuration.md"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for name, table := range map[string]string{"fields": fieldsTable(), "silent fields": silentTable(), "flags": flagsTable(), "kubelet flags": kubeletFlagsTable()} {
		begin, end := "<!-- "+name+": `go test ./config -update` writes this -->\n", "<!-- end of "+name+" -->"
		before, rest, found := strings.Cut(text, begin)
		old, after, ended := strings.Cut(rest, end)
		if !found || !ended {
			t.Fatalf("the page has no place for %s: %s", name, begin)
		}
		if old != table && !updating() {
			t.Errorf("%s are out of date; go test ./config -run Page -update", name)
		}
		text = before + begin + table + end + after
	}
	if updating() {
		if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// fieldsTable are the honoured fields with what says the same.
func fieldsTable() string {
	out := "\n| field | what it does | flag | default |\n|---|---|---|---|\n"
	for _, row := range KubeletFields() {
		if row.Effect != Honoured || row.Path == "apiVersion" || row.Path == "kind" {
			continue
		}
		s, _ := byField(row.Path)
		flag := ""
		if s.flag != "" {
			flag = "`--" + s.flag + "`"
		}
		c := Defaults()
		c.settlePaths()
		out += fmt.Sprintf("| %#q | %s | %s | %s |\n", row.Path, row.Note, flag, code(shown(s.of(c)), "none"))
	}
	return out + "\n"
}

func silentTable() string {
	out := "\n| field | why |\n|---|---|\n"
	for _, row := range KubeletFields() {
		if row.Effect != Honoured {
			out += fmt.Sprintf("| %#q | %s |\n", row.Path, row.why())
		}
	}
	return out + "\n"
}

func flagsTable() string {
	out := "\n| flag | what it is | value or default | field |\n|---|---|---|---|\n"
	for f := range reflect.TypeFor[Flags]().Fields() {
		name := f.Tag.Get("name")
		if name == "" {
			continue
		}
		_, field := names(name)
		if field == name {
			field = ""
		}
		out += fmt.Sprintf("| `--%s` | %s | %s | %s |\n", name, strings.NewReplacer("|", "\\|", "<", "&lt;").Replace(f.Tag.Get("help")),
			code(strings.ReplaceAll(f.Tag.Get("placeholder"), "|", "\\|"), ""), code(field, ""))
	}
	return out + "| `--output`, `-o` | Report of --runonce as JSON; has no variable. | `json` | |\n\n"
}

func kubeletFlagsTable() string {
	out := "\n| flag of a kubelet | what becomes of it |\n|---|---|\n"
	for _, f := range KubeletFlags() {
		what := "no effect: "
		switch {
		case f.refused():
			what = "refused: " + f.Instead
		case f.Field != "":
			what += "as `" + f.Field + "`"
		default:
			what += KubeletField{Effect: f.Effect, Note: f.Instead}.why()
		}
		out += fmt.Sprintf("| `--%s` | %s |\n", f.Name, what)
	}
	return out + "\n"
}

func code(text, none string) string {
	if text = cmp.Or(text, none); text == none {
		return none
	}
	return "`" + text + "`"
}

// Every setting that a flag has is one of the flags, and none is missing.
func TestEveryFlagIsASetting(t *testing.T) {
	others := map[string]string{"config": "says where the file is", "v": "another word for log-level"}
	known := map[string]bool{"output": true}
	for f := range reflect.TypeFor[Flags]().Fields() {
		name := f.Tag.Get("name")
		if name == "" {
			continue
		}
		known[name] = true
		if flag, _ := names(name); flag == "" && others[name] == "" {
			t.Errorf("--%s is no setting", name)
		}
		if f.Tag.Get("env") != variable(name) {
			t.Errorf("--%s has the variable %s", name, f.Tag.Get("env"))
		}
	}
	for _, s := range table() {
		if s.flag != "" && !known[s.flag] {
			t.Errorf("there is no --%s", s.flag)
		}
	}
	for _, f := range KubeletFlags() {
		if known[f.Name] {
			t.Errorf("--%s is a flag of podstead's too", f.Name)
		}
		if f.Field != "" && (fieldRow(f.Field).Effect == "" || fieldRow(f.Field).Effect == Honoured) {
			t.Errorf("--%s has no effect, and %s has", f.Name, f.Field)
		}
	}
}
