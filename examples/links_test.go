package examples

import "regexp"

var link = regexp.MustCompile(`\]\(([^)]+)\)`)

// links are the targets of a Markdown text.
func links(text string) []string {
	var targets []string
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		targets = append(targets, m[1])
	}
	return targets
}
