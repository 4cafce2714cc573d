// Package manifests turns the bytes of a manifest into pods that a node can
// run, or into faults that say where and why not. Bytes come in, documents and
// pods come out; nothing here touches a disk, a network or a clock, and nothing
// runs on its own.
//
// The way through: Decode splits a unit (one file, one HTTP body, one file of a
// commit) and strictly decodes it into documents as their author wrote them; the
// caller drops those of other nodes; Static tells what is wrong with a document
// and gives it Kubernetes' defaults, the static-pod rules of the kubelet, our
// identity, and Kubernetes' own validation.
package manifests

import (
	"encoding/json"
	"fmt"

	v1 "k8s.io/api/core/v1"
)

// Node is what a manifest is read for.
type Node struct {
	Name   string            // as configured; lower-cased where it enters names and identity
	Labels map[string]string // hostname, os, arch and --node-labels
}

// Place is where something stands in a unit. Line and Column count from 1 and
// are 0 where unknown; Document counts from 1 over the unit, items of a list
// included in their order.
type Place struct {
	Unit     string // file name, URL without credentials, or path in a commit
	Document int
	Line     int
	Column   int
	Field    string // field path, spec.containers[0].image; "" for the document
}

// String is unit:line:column as editors understand it, unknown parts left out.
func (p Place) String() string {
	switch {
	case p.Line > 0 && p.Column > 0:
		return fmt.Sprintf("%s:%d:%d", p.Unit, p.Line, p.Column)
	case p.Line > 0:
		return fmt.Sprintf("%s:%d", p.Unit, p.Line)
	}
	return p.Unit
}

// Fault is one thing wrong at one place. A unit with a fault is not applied.
// The same type carries warnings, where a field says so.
type Fault struct {
	Place   Place
	Message string
}

// Error is place, field path and message on one line.
func (f Fault) Error() string {
	if f.Place.Field == "" {
		return fmt.Sprintf("%s: %s", f.Place, f.Message)
	}
	return fmt.Sprintf("%s: %s: %s", f.Place, f.Place.Field, f.Message)
}

// Pod is one static pod, ready to run on the node it was read for.
type Pod struct {
	// Pod is defaulted, validated and identified: full name, namespace, UID,
	// nodeName, the kubelet's config.* annotations and tolerations. Shared
	// between goroutines: read only.
	*v1.Pod
	// Written is the document as its author wrote it, as RFC 8785 canonical
	// JSON with nulls dropped. It identifies the pod and explains changes.
	Written json.RawMessage
	Place   Place
	// Refs are the objects that the pod refers to, optional ones too, sorted and
	// each once.
	Refs []ObjectRef
}

// WrittenName is the name in the manifest, without the node suffix.
func (p Pod) WrittenName() string { return writtenName(p.Written) }

func writtenName(written json.RawMessage) string {
	var doc struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	// Written has been decoded before; a document that is not an object has no name.
	_ = json.Unmarshal(written, &doc)
	return doc.Metadata.Name
}
