package manifests

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"go.yaml.in/yaml/v4"
)

// yamlTrees reads every document of a YAML stream. A document that is empty or
// only comments is left out. A syntax error ends the reading.
func yamlTrees(unit string, data []byte, lim Limits) ([]*node, []Fault) {
	if line := overweight(data, lim.Nodes); line > 0 {
		return nil, []Fault{{Place: Place{Unit: unit, Line: line}, Message: fmt.Sprintf("more than the limit of %d values and keys", lim.Nodes)}}
	}
	loader, err := yaml.NewLoader(bytes.NewReader(data))
	if err != nil {
		return nil, []Fault{{Place: Place{Unit: unit}, Message: err.Error()}}
	}
	var trees []*node
	b := yamlBuilder{keys: keyNames{}, budget: budget{lim: lim}}
	lines := lineFinder{data: data, line: 1}
	for len(trees) <= lim.Documents { // one more, which is told
		var document yaml.Node
		err := loader.Load(&document)
		if errors.Is(err, io.EOF) {
			return trees, nil
		}
		if err != nil {
			return trees, []Fault{syntaxFault(unit, data, err)}
		}
		if isBlank(&document) {
			continue
		}
		tree, err := b.read(&document, lines.from(document.Line))
		if err != nil {
			return trees, []Fault{placed(unit, err)}
		}
		trees = append(trees, tree)
	}
	return trees, nil
}

func isBlank(document *yaml.Node) bool {
	if len(document.Content) == 0 {
		return true
	}
	n := document.Content[0]
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Style == 0 && n.Anchor == ""
}

// yamlBuilder turns the parser's nodes into ours.
type yamlBuilder struct {
	keys   keyNames
	budget budget
}

// read gives a document's tree its places from the parser's nodes and its
// values from sigs.k8s.io/yaml, which reads the document from data. The parser's
// nodes are gone then: each of the two needs more memory than all else.
func (b *yamlBuilder) read(document *yaml.Node, data []byte) (*node, error) {
	tree, err := b.build(document.Content[0], 1)
	if err != nil {
		return nil, err
	}
	release(document)
	raw, err := kubernetesJSON(data)
	if err != nil {
		return nil, placeError{tree.line, tree.column, err.Error()}
	}
	return tree, newFilling(raw).fill(tree)
}

// release lets go of the nodes of a document, which the loader holds by their
// anchors until the next.
func release(n *yaml.Node) {
	for _, c := range n.Content {
		release(c)
	}
	n.Content = nil
}

func (b *yamlBuilder) build(n *yaml.Node, depth int) (*node, error) {
	if err := b.budget.spend(n.Line, n.Column, depth); err != nil {
		return nil, err
	}
	switch n.Kind {
	case yaml.AliasNode:
		return b.build(n.Alias, depth+1)
	case yaml.MappingNode:
		return b.mapping(n, depth)
	case yaml.SequenceNode:
		return b.sequence(n, depth)
	}
	return b.scalar(n)
}

func (b *yamlBuilder) sequence(n *yaml.Node, depth int) (*node, error) {
	if err := knownTag(n, "!!seq"); err != nil {
		return nil, err
	}
	out := &node{kind: list, line: n.Line, column: n.Column, items: make([]*node, 0, len(n.Content))}
	for _, c := range n.Content {
		item, err := b.build(c, depth+1)
		if err != nil {
			return nil, err
		}
		out.items = append(out.items, item)
	}
	return out, nil
}

func (b *yamlBuilder) mapping(n *yaml.Node, depth int) (*node, error) {
	if err := knownTag(n, "!!map"); err != nil {
		return nil, err
	}
	out := newObject(n.Line, n.Column, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Tag == "!!merge" {
			if err := b.merge(out, n.Content[i+1], depth); err != nil {
				return nil, err
			}
			continue
		}
		key, err := b.key(n.Content[i])
		if err == nil {
			err = b.budget.spendKey(n.Content[i].Line, n.Content[i].Column, key)
		}
		if err != nil {
			return nil, err
		}
		value, err := b.build(n.Content[i+1], depth+1)
		if err != nil {
			return nil, err
		}
		out.set(member{key: key, line: n.Content[i].Line, column: n.Content[i].Column, value: value})
	}
	return out.node, nil
}

// merge takes over the members of the mappings that a merge key names. As in
// sigs.k8s.io/yaml the order written decides: a merge key overrides the keys
// above it and is overridden by those below; of a list, earlier ones win.
func (b *yamlBuilder) merge(out *objectBuilder, from *yaml.Node, depth int) error {
	switch resolved := follow(from); resolved.Kind {
	case yaml.MappingNode:
		tree, err := b.build(resolved, depth+1)
		if err != nil {
			return err
		}
		for _, f := range tree.fields {
			f.merged = true
			out.set(f)
		}
		return nil
	case yaml.SequenceNode:
		if from.Kind == yaml.AliasNode {
			break
		}
		for i := len(from.Content) - 1; i >= 0; i-- {
			if follow(from.Content[i]).Kind != yaml.MappingNode {
				return placeError{from.Line, from.Column, "a merge key takes objects only"}
			}
			if err := b.merge(out, from.Content[i], depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	return placeError{from.Line, from.Column, "a merge key takes objects only"}
}

func follow(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

func (b *yamlBuilder) key(n *yaml.Node) (string, error) {
	n = follow(n)
	if n.Kind == yaml.ScalarNode && (n.Style != 0 || !mayResolve(n.Value)) {
		return n.Value, nil
	}
	key, err := "", errNoKey
	if n.Kind == yaml.ScalarNode {
		key, err = b.keys.of(n.Value)
	}
	if err != nil {
		return "", placeError{n.Line, n.Column, err.Error()}
	}
	return key, nil
}

// scalar has no value yet: what is to be filled in is text until then.
func (b *yamlBuilder) scalar(n *yaml.Node) (*node, error) {
	if err := knownTag(n, "!!str", "!!int", "!!float", "!!bool", "!!null"); err != nil {
		return nil, err
	}
	if n.Style == 0 && notFinite(n.Value) {
		return nil, placeError{n.Line, n.Column, "not a value that JSON can hold"}
	}
	if err := b.budget.spendText(n.Line, n.Column, n.Value); err != nil {
		return nil, err
	}
	return &node{kind: text, line: n.Line, column: n.Column}, nil
}

// knownTag refuses other tags without naming them: one may be a password that
// begins with ! and is not quoted.
func knownTag(n *yaml.Node, known ...string) error {
	if n.Style&yaml.TaggedStyle != 0 && !slices.Contains(known, n.Tag) {
		return placeError{n.Line, n.Column, "unknown tag: a text that begins with ! must be quoted"}
	}
	return nil
}
