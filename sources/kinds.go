package sources

import (
	"fmt"

	"github.com/podstead/podstead/manifests"
)

// NotRun says of a document that is neither pod nor object why nothing comes of
// it.
func NotRun(doc manifests.Document) string {
	kind := fmt.Sprintf("kind %s of %s", doc.Kind, doc.APIVersion)
	switch doc.APIVersion + " " + doc.Kind {
	case " ":
		return "not supported: this is no Kubernetes object"
	case "v1 Service":
		return "kind Service is not supported yet; pods do not need one to run"
	case "v1 PersistentVolumeClaim":
		return kind + " is not supported yet (planned)"
	case "apps/v1 Deployment", "apps/v1 StatefulSet", "apps/v1 DaemonSet", "apps/v1 ReplicaSet",
		"v1 ReplicationController", "batch/v1 Job", "batch/v1 CronJob":
		return kind + " is not supported yet (it comes later); what its template holds can be written as a Pod"
	}
	return kind + " is not supported"
}
