package agent

import (
	"context"
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/events"
	"github.com/podstead/podstead/runtime"
)

// namesakes tells of pods on the engine that bear this node's name and another
// node id. A root-dir that was lost leaves such: they run on beside the pods that
// the node has made anew, and nobody ends them. It is looked for when the engine
// is met for the first time, and again after it was away, never in between; what
// has been told is told again only when it has changed.
type namesakes struct {
	agent *Agent
	owed  bool
	told  string
}

// look asks the engine if that is owed. What fails is owed still.
func (n *namesakes) look(ctx context.Context) {
	if !n.owed {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, freshLimit)
	defer cancel()
	others, err := n.agent.deps.Runtime.Namesakes(ctx)
	if err != nil {
		n.agent.log.Debug("pods of another node of this name are not looked for", "err", err)
		return
	}
	n.owed = false
	if now := fmt.Sprint(others); now != n.told {
		n.told = now
		n.tell(others)
	}
}

func (n *namesakes) tell(others []runtime.Namesake) {
	node := n.agent.cfg.Node.Name
	for _, other := range others {
		message := fmt.Sprintf("Beside this node's pods the engine has those of another node %q, with id %s. "+
			"If this node lost its root-dir, remove them (docker rm -f $(docker ps -aq --filter label=podstead.node-id=%s)), or stop the agent and restore the root-dir; "+
			"if another agent has this name, give one of them another with --hostname-override. Pods: %d (%s)",
			node, other.NodeID, other.NodeID, len(other.Pods), showPods(other.Pods))
		n.agent.deps.Events.Event(events.Node(node), v1.EventTypeWarning, events.NodeNameShared, message)
	}
}

// shownPods is how many pods a message names.
const shownPods = 5

func showPods(pods []runtime.PodRef) string {
	var names []string
	for i, pod := range pods {
		if i == shownPods {
			names = append(names, fmt.Sprintf("and %d more", len(pods)-i))
			break
		}
		names = append(names, pod.String())
	}
	return strings.Join(names, ", ")
}
