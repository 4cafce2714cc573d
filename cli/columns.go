package cli

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/util/jsonpath"
)

// customColumns is kubectl's -o custom-columns=NAME:.metadata.name,…: a table whose
// cells are paths into each object.
type customColumns struct {
	headers   []string
	paths     []*jsonpath.JSONPath
	noHeaders bool // or told already
	tabs      flusher
	out       io.Writer // where tabs write to
}

// columnsOf reads a list of HEADER:PATH.
func columnsOf(spec string) (template, error) {
	var headers, paths []string
	for part := range strings.SplitSeq(spec, ",") {
		header, path, ok := strings.Cut(part, ":")
		if !ok {
			return nil, fmt.Errorf("custom-columns %q: %q is not of the form HEADER:PATH", spec, part)
		}
		headers, paths = append(headers, header), append(paths, path)
	}
	return compileColumns(headers, paths)
}

// columnsOfFile reads a line of headers and a line of paths below them.
func columnsOfFile(text string) (template, error) {
	lines := bufio.NewScanner(strings.NewReader(text))
	var headers, paths []string
	if lines.Scan() {
		headers = strings.Fields(lines.Text())
	}
	if lines.Scan() {
		paths = strings.Fields(lines.Text())
	}
	if len(headers) == 0 || len(headers) != len(paths) {
		return nil, fmt.Errorf("custom-columns-file: want a line of headers and a line of as many paths, have %d and %d", len(headers), len(paths))
	}
	return compileColumns(headers, paths)
}

func compileColumns(headers, paths []string) (template, error) {
	c := &customColumns{headers: headers}
	for _, path := range paths {
		compiled, err := newPath(path)
		if err != nil {
			return nil, fmt.Errorf("custom-columns: %w", err)
		}
		c.paths = append(c.paths, compiled)
	}
	return c, nil
}

// print writes one row, or one for each item of a list. Columns keep their widths
// from one print to the next, as a watch needs.
func (c *customColumns) print(value *unstructured.Unstructured, out io.Writer) error {
	if c.tabs == nil || c.out != out {
		c.tabs, c.out = printers.GetNewTabWriter(out), out
	}
	rows := []any{value.Object}
	if items, isList := value.Object["items"].([]any); isList {
		rows = items
	}
	if !c.noHeaders {
		c.noHeaders = true
		fmt.Fprintln(c.tabs, strings.Join(c.headers, "\t"))
	}
	for _, row := range rows {
		cells, err := c.cells(row)
		if err != nil {
			return err
		}
		fmt.Fprintln(c.tabs, strings.Join(cells, "\t"))
	}
	return c.tabs.Flush()
}

func (c *customColumns) cells(row any) ([]string, error) {
	cells := make([]string, len(c.paths))
	for i, path := range c.paths {
		results, err := path.FindResults(row)
		if err != nil {
			return nil, fmt.Errorf("custom-columns: column %s: %w", c.headers[i], err)
		}
		var found []string
		for _, list := range results {
			for _, v := range list {
				found = append(found, OneLine(fmt.Sprint(v.Interface())))
			}
		}
		cells[i] = "<none>"
		if len(found) > 0 {
			cells[i] = strings.Join(found, ",")
		}
	}
	return cells, nil
}
