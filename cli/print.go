package cli

import (
	"bytes"
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
	typed  func(item *T)       // puts kind and version into an item
	list   func(items []T) any // the list as JSON and YAML show it
	// hue is the colour of the column hued.
	hued int
	hue  func(item *T) hue
}

// style is in which form items are shown.
type style struct {
	form          form
	single        bool // one object was asked for, not a list of them
	withNamespace bool
	noHeaders     bool
	showLabels    bool
	labelColumns  []string
	strictKeys    bool // of a template: a key that is not there is an error
	colour        bool
}

// printer writes items of one kind in the form that was asked for. Tables keep
// their columns from one print to the next, as a watch needs.
type printer[T any] struct {
	view     view[T]
	style    style
	out      io.Writer
	flat     bytes.Buffer // the table before it is coloured
	tabs     flusher
	table    printers.ResourcePrinter
	template template // nil until the first print
}

// flusher aligns what is written to it when it is flushed.
type flusher interface {
	io.Writer
	Flush() error
}

func newPrinter[T any](v view[T], s style, out io.Writer) *printer[T] {
	p := &printer[T]{view: v, style: s, out: out, table: printers.NewTablePrinter(printers.PrintOptions{
		Wide: s.form == "wide", WithNamespace: s.withNamespace && v.object != nil, NoHeaders: s.noHeaders,
		ShowLabels: s.showLabels, ColumnLabels: s.labelColumns,
	})}
	p.tabs = printers.GetNewTabWriter(&p.flat)
	return p
}

// all prints a whole list, or the only item when a single one was asked for.
func (p *printer[T]) all(items []T, now time.Time) error {
	switch {
	case p.style.form == "name":
		return p.names(items)
	case p.style.form.table():
		return p.rows(items, now)
	case p.style.single && len(items) == 1:
		return p.data(p.item(items[0]))
	}
	return p.data(p.view.list(items))
}

// one prints one item of a watch.
func (p *printer[T]) one(item T, now time.Time) error {
	switch p.style.form {
	case "", "wide", "name":
		return p.all([]T{item}, now)
	case "yaml":
		if _, err := io.WriteString(p.out, "---\n"); err != nil {
			return err
		}
	}
	return p.data(p.item(item))
}

// item is an item with its kind.
func (p *printer[T]) item(item T) any {
	if p.view.typed != nil {
		p.view.typed(&item)
	}
	return item
}

// data prints a value as JSON, YAML or by a template.
func (p *printer[T]) data(value any) error {
	if p.style.form == "json" || p.style.form == "yaml" {
		return Encode(p.out, string(p.style.form), value)
	}
	if p.template == nil {
		compiled, err := newTemplate(string(p.style.form), !p.style.strictKeys)
		if err != nil {
			return &Exit{Code: ExitConfig, Err: err}
		}
		if columns, ok := compiled.(*customColumns); ok {
			columns.noHeaders = p.style.noHeaders
		}
		p.template = compiled
	}
	object, err := untyped(value)
	if err != nil {
		return err
	}
	return p.template.print(object, harmless(p.out))
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
	if err := p.tabs.Flush(); err != nil {
		return err
	}
	defer p.flat.Reset()
	_, err := io.WriteString(p.out, p.painted(p.flat.String(), items))
	return err
}

// painted colours the status word of each row; a line of headers may be before them.
func (p *printer[T]) painted(text string, items []T) string {
	if !p.style.colour || p.view.hue == nil {
		return text
	}
	column := p.view.hued
	if p.style.withNamespace && p.view.object != nil {
		column++
	}
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	if headers := len(lines) - len(items); headers >= 0 {
		for i := range items {
			lines[headers+i] = paintColumn(lines[headers+i], column, p.view.hue(&items[i]))
		}
	}
	return strings.Join(lines, "") + "\n"
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
		if r == '\n' {
			out.WriteString("; ")
			continue
		}
		writeHarmless(&out, r)
	}
	return out.String()
}

func writeHarmless(out *strings.Builder, r rune) {
	if unicode.IsPrint(r) {
		out.WriteRune(r)
		return
	}
	out.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
}

// harmless is out itself, or what keeps texts of manifests from moving the cursor
// when a person reads them. Lines and tabs stay: templates are full of them.
func harmless(out io.Writer) io.Writer {
	if IsTerminal(out) {
		return guard{out}
	}
	return out
}

type guard struct{ out io.Writer }

// Write writes the text in one piece.
func (g guard) Write(text []byte) (int, error) {
	var safe strings.Builder
	for _, r := range string(text) {
		if r == '\n' || r == '\t' {
			safe.WriteRune(r)
			continue
		}
		writeHarmless(&safe, r)
	}
	if _, err := io.WriteString(g.out, safe.String()); err != nil {
		return 0, err
	}
	return len(text), nil
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
