package main

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/podstead/podstead/durable"
	"github.com/podstead/podstead/manifests"
)

// identity is who this node is. It is written to the root-dir at the first
// start and outlives changes of the host name, because every pod's UID and name
// hang on it.
type identity struct {
	Name      string `json:"name"`                // node name, taken from the host name
	NodeID    string `json:"nodeID"`              // random; tells agents of one engine apart
	MachineID string `json:"machineID,omitempty"` // of the machine on which the name was taken
}

// settle decides who the node is from what was written before (zero at the
// first start) and what the machine says now. On another machine (a cloned
// card) the name is taken anew and the id stays. A host name that changed on
// the same machine (DHCP) is a warning only.
func settle(before identity, now host, newID func() string) (identity, []string) {
	var warnings []string
	name, changed := manifests.NodeName(now.Hostname)
	if changed {
		warnings = append(warnings, fmt.Sprintf("host name %q cannot be a node name; %q is taken", now.Hostname, name))
	}
	after := before
	if after.NodeID == "" {
		after.NodeID = newID()
	}
	if now.MachineID != "" {
		after.MachineID = now.MachineID
	}
	moved := before.MachineID != "" && now.MachineID != "" && before.MachineID != now.MachineID
	switch {
	case before.Name == "":
		after.Name = name
	case moved && before.Name != name:
		after.Name = name
		warnings = append(warnings, fmt.Sprintf("this is another machine than the one named %q; the node is now %q and its pods start anew", before.Name, name))
	case before.Name != name:
		warnings = append(warnings, fmt.Sprintf("the host name is now %q; the node keeps the name %q of its first start (use --hostname-override to change it)", now.Hostname, before.Name))
	}
	return after, warnings
}

// loadIdentity reads who the node is, settles it and writes it when it changed.
// override wins over the name and is not written: dropping it brings the host's
// own name back.
func loadIdentity(rootDir, override string, now host) (identity, []string, error) {
	path := filepath.Join(rootDir, "node.json")
	var before identity
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return identity{}, nil, fmt.Errorf("read node identity: %w", err)
	default:
		if err := json.Unmarshal(data, &before); err != nil {
			return identity{}, nil, fmt.Errorf("read node identity %s: %w; write back {\"name\": …, \"nodeID\": …} as `podstead.node` and `podstead.node-id` label this node's containers, or remove the file to begin anew", path, err)
		}
	}
	after, warnings := settle(before, now, randomID)
	if after != before {
		data, err := json.MarshalIndent(after, "", "  ")
		if err != nil {
			return identity{}, nil, fmt.Errorf("write node identity: %w", err)
		}
		if err := durable.WriteFile(path, append(data, '\n'), 0o600); err != nil {
			return identity{}, nil, fmt.Errorf("write node identity: %w", err)
		}
	}
	if override == "" {
		return after, warnings, nil
	}
	name, changed := manifests.NodeName(override)
	after.Name, warnings = name, nil
	if changed {
		warnings = []string{fmt.Sprintf("--hostname-override %q cannot be a node name; %q is taken", override, name)}
	}
	return after, warnings, nil
}

// randomID is 64 random bits in hex: never a name, only different from others.
func randomID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails, as crypto/rand documents
	return hex.EncodeToString(b[:])
}
