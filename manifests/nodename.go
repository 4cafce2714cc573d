package manifests

// NodeName makes a host name a node name.
func NodeName(hostname string) (name string, changed bool) { return hostname, false }
