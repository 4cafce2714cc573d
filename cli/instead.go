package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/manifests"
)

// Instead says, of a command line that the parser did not understand, what to do
// in the place of a command of kubectl or docker that podstead has not; "" when it
// is none of theirs.
func Instead(ctx context.Context, app *kong.Node, args []string) string {
	l := &line{node: app, flags: map[string]string{}}
	for _, word := range Arrange(app, args) {
		l.read(word)
	}
	switch {
	case l.node == app && len(l.given) > 0:
		return insteadOfCommand(ctx, l)
	case len(l.given) > 0 && (l.node.Name == "get" || l.node.Name == "describe"):
		return insteadOfKind(l.node.Name, l.given[0])
	case l.node.Name == "run" && (len(l.given) > 0 || slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--image") })):
		return "`podstead run` starts the agent. To run an image, write a Pod manifest that names it and copy it into the folder of a source (`podstead get sources`)"
	}
	return ""
}

func insteadOfCommand(ctx context.Context, l *line) string {
	verb := l.given[0]
	const manifestsRule = "manifests rule: "
	var advice string
	switch verb {
	case "delete", "rm":
		return "there is no `podstead " + verb + "`: " + manifestsRule + whereToDelete(ctx, l)
	case "apply", "create", "replace":
		advice = manifestsRule + "copy the file into the folder of a source (`podstead get sources` names it), and it is in force at once; `podstead validate FILE` checks it before"
	case "edit", "patch", "set", "label", "annotate":
		advice = manifestsRule + "edit the file that `podstead describe pod NAME` names, and the pod is replaced as soon as the new one can run"
	case "scale", "autoscale":
		advice = "a Pod is one pod: for another, write another manifest with another name"
	case "rollout":
		advice = "to edit a manifest is to roll it out; `podstead restart POD` starts its containers anew, `podstead wait` waits for it, `podstead get pods -w` shows it"
	case "expose", "proxy":
		advice = "a hostPort in the manifest makes a port reachable from outside; `podstead port-forward POD LOCAL:REMOTE` does so for you alone"
	case "cordon", "uncordon", "taint":
		advice = "`podstead drain` stops every pod until `podstead resume`, `podstead suspend SOURCE` holds one source as it is"
	case "events", "pods", "sources", "ps":
		advice = fmt.Sprintf("`podstead get %s`", strings.Replace(verb, "ps", "pods -A", 1))
	case "inspect":
		advice = "`podstead describe pod NAME`, or `podstead get pod NAME -o yaml`"
	case "stats":
		advice = "`podstead top pods`"
	case "start", "stop", "kill":
		advice = "`podstead restart POD` starts a pod's containers anew, `podstead drain` stops all pods until `podstead resume`, deleting a manifest ends its pod for good"
	case "debug":
		advice = "`podstead exec -it POD -- sh`"
	case "explain", "api-resources", "api-versions":
		advice = "podstead runs Kubernetes' Pods, and reads ConfigMaps and Secrets; `podstead validate FILE` names every field that it does not know"
	case "cluster-info", "info":
		advice = "`podstead status` or `podstead describe node`"
	case "diff", "kustomize":
		advice = "`podstead validate FILE` checks a manifest; templates are to be rendered before they come to a source"
	case "pull", "images", "build":
		advice = "images are the engine's: `docker " + verb + "`"
	default:
		return ""
	}
	return "there is no `podstead " + verb + "`: " + advice
}

// whereToDelete names the files of the pods that are to go.
func whereToDelete(ctx context.Context, l *line) string {
	const general = "delete the file that `podstead describe pod NAME` names, and its pod ends with its grace period"
	names := l.given[1:]
	if len(names) > 0 && slices.Contains([]string{"pod", "pods", "po"}, names[0]) {
		names = names[1:]
	}
	if len(names) == 0 {
		return general
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	all := newLooker(ctx, l.connection()).pods()
	pods, err := selectPods(all, cmp.Or(l.flags["namespace"], v1.NamespaceDefault), names)
	if err != nil || len(all) == 0 {
		return general
	}
	var places []string
	for i := range pods {
		place := fmt.Sprintf("pod %s is written in %s (source %s)", pods[i].Name, pods[i].Annotations[manifests.AnnotationManifest], pods[i].Annotations[manifests.AnnotationSource])
		if !slices.Contains(places, place) {
			places = append(places, place)
		}
	}
	return OneLine(strings.Join(places, ", ") + "; delete it there, and it ends with its grace period")
}

// insteadOfKind is for kinds that podstead cannot list.
func insteadOfKind(verb, kind string) string {
	kind, _, _ = strings.Cut(strings.ToLower(kind), "/")
	var advice string
	switch strings.TrimSuffix(kind, "s") {
	case "node", "no":
		advice = "there is one node, this: `podstead describe node`, `podstead status`"
	case "all":
		advice = "`podstead get pods -A` lists all pods, `podstead get sources` where they come from"
	case "deployment", "deploy", "replicaset", "r", "statefulset", "st", "daemonset", "d", "job", "cronjob", "cj":
		advice = "podstead runs Pods only: `podstead get pods -A`"
	case "configmap", "cm", "secret":
		advice = "`podstead describe source` names the ConfigMaps and Secrets that each source holds, `podstead describe pod NAME` those that a pod uses"
	case "namespace", "n":
		advice = "namespaces are made by naming them: `podstead get pods -A` shows which there are"
	case "service", "svc", "endpoint", "ep", "ingresse", "ingres", "ing":
		advice = "there are no Services: pods find each other by name, and a hostPort is the way in"
	case "container":
		advice = "`podstead describe pod NAME` shows a pod's containers, `podstead top pods --containers` what they use"
	case "persistentvolume", "pv", "persistentvolumeclaim", "pvc", "storageclasse", "sc":
		advice = "`podstead describe pod NAME` shows a pod's volumes"
	default:
		if !strings.Contains(kind, ",") {
			return ""
		}
		advice = "ask for one kind at a time"
	}
	return fmt.Sprintf("%q is nothing to %s here: %s", kind, verb, advice)
}
