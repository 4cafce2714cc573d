package manifests

import "strings"

const (
	maxLabel     = 63  // RFC 1123
	maxSubdomain = 253 // RFC 1123, as Kubernetes limits object names
)

// NodeName makes a valid node name of a host name: lower case, dashes for what
// a DNS name cannot hold (an underscore, above all), labels of at most 63
// characters. changed tells whether the name is another one than the host's, so
// that the caller can say so. A host name of which nothing is left becomes node.
func NodeName(hostname string) (name string, changed bool) {
	var labels []string
	for _, label := range strings.Split(strings.Map(dnsRune, strings.ToLower(hostname)), ".") {
		if label = fit(label, maxLabel); label != "" {
			labels = append(labels, label)
		}
	}
	name = strings.Trim(fit(strings.Join(labels, "."), maxSubdomain), ".")
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

// fit cuts a name to a length and trims what may not stand at its ends.
func fit(name string, limit int) string {
	name = strings.Trim(name, "-")
	return strings.TrimRight(name[:min(len(name), limit)], "-.")
}
