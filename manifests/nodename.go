package manifests

import "strings"

// maxNodeName is what fits into a label value, where node names end up too
// (kubernetes.io/hostname), and leaves room for a pod's name before it.
const maxNodeName = 63

// NodeName makes a valid node name of a host name: lower case, dashes for what
// a DNS name cannot hold (an underscore, above all), 63 characters at the most.
// changed tells whether it is another than the host's, so that the caller can
// say so. A host name of which nothing is left becomes node.
func NodeName(hostname string) (name string, changed bool) {
	var labels []string
	for _, label := range strings.Split(strings.Map(dnsRune, strings.ToLower(hostname)), ".") {
		if label = strings.Trim(label, "-"); label != "" {
			labels = append(labels, label)
		}
	}
	name = strings.Join(labels, ".")
	name = strings.TrimRight(name[:min(len(name), maxNodeName)], "-.")
	if name == "" {
		name = "node"
	}
	return name, name != hostname
}

func dnsRune(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
		return r
	}
	return '-'
}
