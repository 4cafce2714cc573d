package sources

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/podstead/podstead/manifests"
)

// variable is what stands for something of the node in a ref or a path.
func variable() *regexp.Regexp { return regexp.MustCompile(`\$\(([^()]*)\)`) }

// labelVariable is how a label is named: $(NODE_LABEL:key).
const labelVariable = "NODE_LABEL:"

// checkVariables refuses variables that no node has.
func checkVariables(text string) error {
	for _, found := range variable().FindAllStringSubmatch(text, -1) {
		key, isLabel := strings.CutPrefix(found[1], labelVariable)
		if found[1] != "NODE_NAME" && (!isLabel || key == "") {
			return fmt.Errorf("%q: %s is neither $(NODE_NAME) nor $(NODE_LABEL:key)", text, found[0])
		}
	}
	if strings.Contains(variable().ReplaceAllString(text, ""), "$(") {
		return fmt.Errorf("%q: a variable is not closed", text)
	}
	return nil
}

// forNode fills in the node's name, in lower case, and labels. What a node lacks
// is an error: it must not read what is another's, or everybody's.
func forNode(text string, node manifests.Node) (string, error) {
	var err error
	out := variable().ReplaceAllStringFunc(text, func(v string) string {
		name := strings.TrimSuffix(strings.TrimPrefix(v, "$("), ")")
		value := strings.ToLower(node.Name)
		if key, isLabel := strings.CutPrefix(name, labelVariable); isLabel {
			value = node.Labels[key]
		}
		switch {
		case value == "":
			err = fmt.Errorf("%q: this node has no value for %s", text, v)
		case strings.Contains(value, "/"), strings.Contains(value, ".."), value == ".":
			err = fmt.Errorf("%q: this node's value %q for %s would lead elsewhere", text, value, v)
		}
		return value
	})
	return out, err
}
