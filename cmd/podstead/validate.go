package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/podstead/podstead/cli"
	"github.com/podstead/podstead/config"
	"github.com/podstead/podstead/manifests"
	"github.com/podstead/podstead/sources"
)

type validateCmd struct {
	NodeName string   `default:"node" placeholder:"NAME" help:"Node to check for: names and identity depend on it."`
	Policy   string   `default:"privileged" enum:"privileged,edge,baseline,restricted" placeholder:"LEVEL" help:"Policy of the source that is to read them: privileged (default), edge, baseline or restricted."`
	Paths    []string `arg:"" name:"PATH" help:"Manifest files, or folders as the agent would read them; also a configuration file."`
}

// Examples are those of `podstead validate`.
func (validateCmd) Examples() []cli.Example {
	return []cli.Example{
		{For: "a manifest, before it is copied", Line: "podstead validate web.yaml"},
		{For: "a folder, as a URL's or a repository's policy takes it", Line: "podstead validate --policy edge manifests"},
		{For: "a configuration file", Line: "podstead validate config.yaml"},
	}
}

// checked is what a validation has found.
type checked struct {
	node                 manifests.Node
	policy               *sources.PolicyCheck
	files, pods, objects int
	faults               []manifests.Fault
	warnings             []manifests.Fault
	ignored              []string
	configurations       int
	wrong, odd           []string                   // faults and warnings of configurations
	names                map[string]manifests.Place // of pods and objects, the first place
}

// Run checks every path and prints each fault on a line of its own, as
// file:line:column: field: message. A signal ends it at once, whatever it waits
// for: there is nothing to be brought to an end in order.
func (c *validateCmd) Run(t cli.Terminal) error {
	t.ReleaseSignals()
	allowPrivileged()
	policy, err := sources.NewPolicyCheck(sources.Policy(c.Policy))
	if err != nil {
		return err
	}
	node, _ := manifests.NodeName(c.NodeName)
	found := checked{node: manifests.Node{Name: node}, policy: policy, names: map[string]manifests.Place{}}
	for _, path := range c.Paths {
		found.path(path)
	}
	found.print(t)
	if len(found.faults)+len(found.wrong) > 0 {
		return &cli.Exit{Code: cli.ExitFailed}
	}
	return nil
}

func (c *checked) print(t cli.Terminal) {
	for _, f := range c.faults {
		fmt.Fprintln(t.Out, cli.OneLine(f.Error()))
	}
	for _, text := range c.wrong {
		fmt.Fprintln(t.Out, cli.OneLine(text))
	}
	for _, w := range c.warnings {
		fmt.Fprintln(t.Out, "warning:", cli.OneLine(w.Error()))
	}
	for _, text := range c.odd {
		fmt.Fprintln(t.Out, "warning:", cli.OneLine(text))
	}
	for _, name := range c.ignored {
		fmt.Fprintln(t.Out, "ignored:", cli.OneLine(name))
	}
	parts := cli.Count(c.files, "file") + ", " + cli.Count(c.pods, "pod")
	if c.objects > 0 {
		parts += ", " + cli.Count(c.objects, "object")
	}
	if c.configurations > 0 {
		parts += ", " + cli.Count(c.configurations, "configuration")
	}
	fmt.Fprintf(t.Out, "%s: %s, %s\n", parts, cli.Count(len(c.faults)+len(c.wrong), "fault"), cli.Count(len(c.warnings)+len(c.odd), "warning"))
}

// path checks a file, or a folder the way a file source reads it.
func (c *checked) path(path string) {
	listing, err := sources.List(path)
	if err != nil {
		c.blame(path, err)
		return
	}
	for _, file := range listing.Files {
		c.file(file)
	}
	for _, name := range listing.Ignored {
		c.ignored = append(c.ignored, name+" (a manifest's name ends in .yaml, .yml or .json)")
	}
	for _, name := range listing.Subfolders {
		c.ignored = append(c.ignored, name+" (folders in a folder are not entered)")
	}
}

// file checks every document, also those that are for other nodes.
func (c *checked) file(path string) {
	c.files++
	limits := manifests.DefaultLimits()
	data, err := sources.ReadManifest(path, limits.Bytes)
	if err != nil {
		c.blame(path, err)
		return
	}
	if config.Holds(data) {
		c.configuration(path, data)
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
			c.document(doc)
		}
	}
}

func (c *checked) document(doc manifests.Document) {
	switch {
	case doc.Pod() != nil:
		c.pod(doc)
	case doc.IsObject():
		c.object(doc)
	default:
		c.warnings = append(c.warnings, manifests.Fault{Place: doc.Place, Message: sources.NotRun(doc)})
	}
}

func (c *checked) pod(doc manifests.Document) {
	pod, warnings, faults := manifests.Static(doc, c.options())
	if len(faults) == 0 {
		if why := c.policy.Violation(pod.Pod); why != "" {
			faults = []manifests.Fault{{Place: doc.Place, Message: why}}
		}
	}
	if c.told(warnings, faults) {
		return
	}
	c.pods++
	c.name(doc, "pod "+pod.Namespace+"/"+pod.Name, "")
}

func (c *checked) object(doc manifests.Document) {
	object, warnings, faults := manifests.NewObject(doc, c.options())
	if c.told(warnings, faults) {
		return
	}
	c.objects++
	// one for each node is no clash
	c.name(doc, object.Ref().String(), doc.Annotations[manifests.AnnotationNodeSelector])
}

// name notes a name and says which place keeps it.
func (c *checked) name(doc manifests.Document, name, forNodes string) {
	key := name + " " + forNodes
	if first, taken := c.names[key]; taken {
		c.warnings = append(c.warnings, manifests.Fault{Place: doc.Place, Message: fmt.Sprintf("%s would not be used: its name is taken by %s", name, first)})
		return
	}
	c.names[key] = doc.Place
}

// told notes what a document gave rise to, and whether that is a fault.
func (c *checked) told(warnings, faults []manifests.Fault) (faulty bool) {
	c.warnings = append(c.warnings, warnings...)
	c.faults = append(c.faults, faults...)
	return len(faults) > 0
}

func (c *checked) options() manifests.Options {
	return manifests.Options{Node: c.node, Kind: string(sources.KindFile)}
}

func (c *checked) blame(path string, err error) {
	var inner *os.PathError
	if errors.As(err, &inner) {
		err = inner.Err // the path is told already
	}
	c.faults = append(c.faults, manifests.Fault{Place: manifests.Place{Unit: path}, Message: err.Error()})
}
