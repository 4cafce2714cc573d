package docker

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/podstead/podstead/runtime"
)

// Namesakes shows, with one engine call, the pods that bear this node's name
// and another node id: of an agent whose root-dir was lost, or of one that was
// given the same name. They are not ours, and nothing here touches them. Sorted
// by node id, and within by UID.
func (m *Manager) Namesakes(ctx context.Context) ([]runtime.Namesake, error) {
	found, err := m.engine.listContainers(ctx, labelNode+"="+m.cfg.NodeName, labelNodeID)
	if err != nil {
		return nil, fmt.Errorf("list pods of other nodes of this name: %w", err)
	}
	pods := map[string]map[string]runtime.PodRef{}
	for _, c := range found {
		owner := c.Labels[labelNodeID]
		if c.Labels[labelNode] != m.cfg.NodeName || owner == "" || owner == m.cfg.NodeID || len(c.Names) == 0 {
			continue
		}
		is, err := identify(c.Names[0], c.Labels, owner)
		if err != nil {
			continue // its image was made of one of theirs, for one
		}
		if pods[owner] == nil {
			pods[owner] = map[string]runtime.PodRef{}
		}
		pods[owner][is.pod.UID] = is.pod
	}
	var all []runtime.Namesake
	for _, owner := range slices.Sorted(maps.Keys(pods)) {
		refs := slices.SortedFunc(maps.Values(pods[owner]), func(a, b runtime.PodRef) int { return cmp.Compare(a.UID, b.UID) })
		all = append(all, runtime.Namesake{NodeID: owner, Pods: refs})
	}
	return all, nil
}
