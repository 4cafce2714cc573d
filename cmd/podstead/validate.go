package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/podstead/podstead/manifests"
	"github.com/podstead/podstead/sources"
)

type validateCmd struct {
	NodeName string   `default:"node" placeholder:"NAME" help:"Node to check for: names and identity depend on it."`
	Paths    []string `arg:"" name:"PATH" help:"Manifest files, or folders as the agent would read them."`
}

// checked is what a validation has found.
type checked struct {
	files, pods int
	faults      []manifests.Fault
	warnings    []manifests.Fault
	ignored     []string
	names       map[string]manifests.Place // by full name, the first place
}

// Run checks every path and prints each fault on a line of its own, as
// file:line:column: field: message.
func (c *validateCmd) Run(t terminal) error {
	allowPrivileged()
	node, _ := manifests.NodeName(c.NodeName)
	found := checked{names: map[string]manifests.Place{}}
	for _, path := range c.Paths {
		found.path(path, manifests.Node{Name: node})
	}
	for _, f := range found.faults {
		fmt.Fprintln(t.out, f.Error())
	}
	for _, w := range found.warnings {
		fmt.Fprintln(t.out, "warning:", w.Error())
	}
	for _, name := range found.ignored {
		fmt.Fprintln(t.out, "ignored:", name)
	}
	fmt.Fprintf(t.out, "%s, %s: %s, %s\n", count(found.files, "file"), count(found.pods, "pod"), count(len(found.faults), "fault"), count(len(found.warnings), "warning"))
	if len(found.faults) > 0 {
		return &exit{code: exitFailed}
	}
	return nil
}

// path checks a file, or a folder the way a file source reads it.
func (c *checked) path(path string, node manifests.Node) {
	listing, err := sources.List(path)
	if err != nil {
		c.blame(path, err)
		return
	}
	for _, file := range listing.Files {
		c.file(file, node)
	}
	for _, name := range listing.Ignored {
		c.ignored = append(c.ignored, name+" (a manifest's name ends in .yaml, .yml or .json)")
	}
	for _, name := range listing.Subfolders {
		c.ignored = append(c.ignored, name+" (folders in a folder are not entered)")
	}
}

// file checks every document, also those that are for other nodes.
func (c *checked) file(path string, node manifests.Node) {
	c.files++
	limits := manifests.DefaultLimits()
	data, err := readAtMost(path, limits.Bytes+1) // one more, so that Decode sees it is too long
	if err != nil {
		c.blame(path, err)
		return
	}
	docs, faults := manifests.Decode(path, data, limits)
	c.faults = append(c.faults, faults...)
	broken := map[int]bool{}
	for _, f := range faults {
		broken[f.Place.Document] = true
	}
	for _, doc := range docs {
		if !broken[doc.Place.Document] {
			c.document(doc, node)
		}
	}
}

func (c *checked) document(doc manifests.Document, node manifests.Node) {
	if doc.Pod() == nil {
		c.warnings = append(c.warnings, manifests.Fault{Place: doc.Place, Message: notRun(doc)})
		return
	}
	pod, warnings, faults := manifests.Static(doc, manifests.Options{Node: node, Kind: string(sources.KindFile)})
	c.warnings = append(c.warnings, warnings...)
	c.faults = append(c.faults, faults...)
	if len(faults) > 0 {
		return
	}
	c.pods++
	full := pod.Namespace + "/" + pod.Name
	if first, taken := c.names[full]; taken {
		c.warnings = append(c.warnings, manifests.Fault{Place: doc.Place, Message: fmt.Sprintf("pod %s would not run: its name is taken by %s", full, first)})
		return
	}
	c.names[full] = doc.Place
}

func (c *checked) blame(path string, err error) {
	var inner *os.PathError
	if errors.As(err, &inner) {
		err = inner.Err // the path is told already
	}
	c.faults = append(c.faults, manifests.Fault{Place: manifests.Place{Unit: path}, Message: err.Error()})
}

func readAtMost(path string, limit int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	// as the agent: some files of the kernel's, of size 0, keep a reader waiting
	return io.ReadAll(io.LimitReader(file, min(info.Size(), limit)))
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func notRun(doc manifests.Document) string {
	if doc.Kind == "" {
		return "not run: this is no Kubernetes object"
	}
	return fmt.Sprintf("kind %s of %s is not run", doc.Kind, doc.APIVersion)
}
