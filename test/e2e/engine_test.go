//go:build e2e

package e2e

import (
	"context"

	"github.com/podstead/podstead/test/rig"
)

// engine is Docker as the tests ask it: at once, whatever becomes of the test.
type engine struct{ *rig.Engine }

func (e engine) ps(node string) ([]rig.Box, error) { return e.PS(context.Background(), node) }

func (e engine) inspect(id string) (rig.Detail, error) { return e.Inspect(context.Background(), id) }

func (e engine) kill(id, signal string) error { return e.Kill(context.Background(), id, signal) }

func (e engine) remove(id string) error { return e.Remove(context.Background(), id) }

// create makes a container of this configuration and does not start it.
func (e engine) create(name string, config map[string]any) (string, error) {
	return e.Create(context.Background(), name, config)
}

// createLike makes a container as another is, under the same name, once that
// one is gone.
func (e engine) createLike(d rig.Detail) (string, error) {
	config := map[string]any{"HostConfig": d.HostConfig}
	for key, value := range d.Config {
		config[key] = value
	}
	// What the engine filled in itself it does not take back.
	for _, key := range []string{"Hostname", "Domainname", "ExposedPorts"} {
		delete(config, key)
	}
	return e.create(d.Name[1:], config)
}
