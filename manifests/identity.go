package manifests

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/gowebpki/jcs"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kjson "k8s.io/apimachinery/pkg/util/json"
)

// identity is the UID of a static pod: the first 128 bits, as 32 hexadecimal
// digits, of the SHA-256 of this object in RFC 8785 canonical JSON:
//
//	{"annotations":{…},"name":"web","namespace":"default","node":"edge01","spec":{…}}
//
// annotations are those that shape containers, {} if there are none; name is
// metadata.name as written; namespace is metadata.namespace, default if empty;
// node is the node's name; spec is the spec as written, nulls dropped, {} if
// there is none. Nothing else counts: not comments, labels, file names or
// sources.
//
// This can never change, in no version: a pod whose UID changes is replaced,
// and with it every pod of every node that is upgraded.
func identity(doc Document, node string) (types.UID, error) {
	annotations := map[string]string{}
	for key, value := range doc.Annotations {
		if shapesContainers(key) {
			annotations[key] = value
		}
	}
	namespace := doc.Namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	framed, err := frame(identityHead{annotations, doc.Name, namespace, node}, doc.Written)
	if err != nil {
		return "", fmt.Errorf("identify pod %s/%s: %w", namespace, doc.Name, err)
	}
	sum := sha256.Sum256(framed)
	return types.UID(hex.EncodeToString(sum[:16])), nil
}

type identityHead struct {
	Annotations map[string]string `json:"annotations"`
	Name        string            `json:"name"`
	Namespace   string            `json:"namespace"`
	Node        string            `json:"node"`
}

// frame is the canonical object that identifies a pod. The spec goes to its end
// as it is, since it is canonical already and the last of the keys.
func frame(head identityHead, written json.RawMessage) ([]byte, error) {
	doc := struct {
		Spec json.RawMessage `json:"spec"`
	}{Spec: json.RawMessage("{}")}
	if err := kjson.Unmarshal(written, &doc); err != nil { // Spec is not spec
		return nil, err
	}
	raw, err := json.Marshal(head)
	if err != nil {
		return nil, err
	}
	framed, err := jcs.Transform(raw)
	if err != nil {
		return nil, err
	}
	framed = append(framed[:len(framed)-1], `,"spec":`...)
	return append(append(framed, doc.Spec...), '}'), nil
}
