package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/yaml"
)

// column is one column of a table; wide ones are shown with -o wide only.
type column struct {
	name string
	wide bool
}

// view says how items of one kind are shown.
type view[T any] struct {
	resource string // singular, before the slash of -o name
	columns  []column
	cells    func(item *T, now time.Time) []any
	name     func(item *T) string
	// object is what a namespace column is taken from; nil for kinds without one.
	object func(item *T) apiruntime.Object
	list   func(items []T) any // the list as JSON and YAML show it
}

// printer writes items of one kind in the form that was asked for. Tables keep
// their columns from one print to the next, as a watch needs.
type printer[T any] struct {
	view  view[T]
	form  string
	out   io.Writer
	tabs  flusher
	table printers.ResourcePrinter
}

// flusher aligns what is written to it when it is flushed.
type flusher interface {
	io.Writer
	Flush() error
}

func newPrinter[T any](v view[T], form string, withNamespace bool, out io.Writer) *printer[T] {
	return &printer[T]{
		view: v, form: form, out: out, tabs: printers.GetNewTabWriter(out),
		table: printers.NewTablePrinter(printers.PrintOptions{Wide: form == "wide", WithNamespace: withNamespace && v.object != nil}),
	}
}

// all prints a whole list.
func (p *printer[T]) all(items []T, now time.Time) error {
	switch p.form {
	case "json", "yaml":
		return Encode(p.out, p.form, p.view.list(items))
	case "name":
		return p.names(items)
	}
	return p.rows(items, now)
}

// one prints one item of a watch.
func (p *printer[T]) one(item T, now time.Time) error {
	switch p.form {
	case "json":
		return Encode(p.out, p.form, item)
	case "yaml":
		if _, err := io.WriteString(p.out, "---\n"); err != nil {
			return err
		}
		return Encode(p.out, p.form, item)
	}
	return p.all([]T{item}, now)
}

func (p *printer[T]) names(items []T) error {
	for i := range items {
		if _, err := fmt.Fprintf(p.out, "%s/%s\n", p.view.resource, p.view.name(&items[i])); err != nil {
			return err
		}
	}
	return nil
}

func (p *printer[T]) rows(items []T, now time.Time) error {
	table := &metav1.Table{}
	for _, c := range p.view.columns {
		def := metav1.TableColumnDefinition{Name: c.name, Type: "string"}
		if c.wide {
			def.Priority = 1
		}
		table.ColumnDefinitions = append(table.ColumnDefinitions, def)
	}
	for i := range items {
		row := metav1.TableRow{Cells: p.view.cells(&items[i], now)}
		if p.view.object != nil {
			row.Object = apiruntime.RawExtension{Object: p.view.object(&items[i])}
		}
		table.Rows = append(table.Rows, row)
	}
	if err := p.table.PrintObj(table, p.tabs); err != nil {
		return err
	}
	return p.tabs.Flush()
}

// Encode writes a value as JSON or YAML, the way kubectl does.
func Encode(out io.Writer, form string, value any) error {
	data, err := json.MarshalIndent(value, "", "    ")
	if err == nil && form == "yaml" {
		data, err = yaml.JSONToYAML(data)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, strings.TrimRight(string(data), "\n"))
	return err
}

// OneLine is a text that may come from anybody's manifest as a terminal may show
// it: nothing in it begins a line or moves the cursor.
func OneLine(text string) string {
	var out strings.Builder
	for _, r := range text {
		switch {
		case r == '\n':
			out.WriteString("; ")
		case unicode.IsPrint(r):
			out.WriteRune(r)
		default:
			out.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return out.String()
}

// age is how long ago t was, in kubectl's words.
func age(t, now time.Time) string {
	if t.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(now.Sub(t))
}

// Count is a number with its noun.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
