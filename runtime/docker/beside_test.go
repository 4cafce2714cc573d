package docker

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/network"
	"github.com/podstead/podstead/runtime"
)

// A network of our name that does not bear our label is somebody else's: ours gets
// another name.
func TestANetworkOfOurNameIsLeftAlone(t *testing.T) {
	foreign := &namedNetworks{fakeAPI: &fakeAPI{listNetworksFn: func(bool) ([]network.Summary, error) { return nil, nil }}}
	id, err := newTestManager(t, foreign).makeNetwork(t.Context())
	if err != nil || id != "net-1" || len(foreign.asked) != 2 || foreign.asked[1] == networkName {
		t.Errorf("got %q, %v, after %v", id, err, foreign.asked)
	}
}

// namedNetworks is an engine on which our network's name is taken.
type namedNetworks struct {
	*fakeAPI
	asked []string
}

func (n *namedNetworks) NetworkCreate(_ context.Context, name string, _ network.CreateOptions) (network.CreateResponse, error) {
	n.asked = append(n.asked, name)
	if name == networkName {
		return network.CreateResponse{}, refusal{"network with name podstead already exists", cerrdefs.ErrConflict}
	}
	return network.CreateResponse{ID: "net-1"}, nil
}

// Labels of an image by which another program would take a container of it for its
// own are emptied; all that an image may say of our own labels is said over.
func TestLabelsOfImagesClaimNothing(t *testing.T) {
	labels := map[string]string{labelCompose: "shop", labelClaimed: "container", labelNodeID: "node-9", labelUID: "u9", "own": "kept"}
	claimed := imageFrom(imageWith(t, labels), "app:1", "").Claims
	s := containerSpec(runtime.ContainerConfig{Pod: runtime.PodRef{UID: "u1"}, Name: "main", Disowned: claimed}, surroundings{nodeName: "n1", nodeID: "node-1"})
	for label := range labels {
		now, set := s.config.Labels[label]
		if label != "own" && (!set || now == labels[label]) {
			t.Errorf("%s would be %q", label, labels[label])
		}
		if label == "own" && set {
			t.Errorf("%s is set to %q", label, now)
		}
	}
	if none := imageFrom(imageWith(t, nil), "app:1", ""); none.Claims != nil {
		t.Errorf("claims %v", none.Claims)
	}
	if !slices.Contains(claimed, labelCompose) {
		t.Errorf("claims %v", claimed)
	}
}

func imageWith(t *testing.T, labels map[string]string) (found image.InspectResponse) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"Config": map[string]any{"Labels": labels}})
	if err == nil {
		err = json.Unmarshal(text, &found)
	}
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// What was said of a container that is gone is forgotten with it.
func TestWhatWasReportedIsForgotten(t *testing.T) {
	list := []container.Summary{{ID: "c1", Names: []string{"/brave_name"}, Labels: map[string]string{labelNodeID: "node-1"}}}
	m := newTestManager(t, &fakeAPI{listFn: func() ([]container.Summary, error) { return list, nil }})
	for _, want := range []bool{true, false} {
		if pods, err := m.List(t.Context()); err != nil || len(pods) != 0 {
			t.Errorf("got %v, %v", pods, err)
		}
		if _, told := m.reported.Load("c1"); told != want {
			t.Errorf("reported: %v", told)
		}
		list = nil
	}
}
