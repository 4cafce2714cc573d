package cli

import (
	"github.com/podstead/podstead/agent/api"
	"github.com/podstead/podstead/config"
)

// connection says which agent a client command talks to.
type connection struct {
	RootDir string `name:"root-dir" env:"PODSTEAD_ROOT_DIR" placeholder:"DIR" help:"The agent's root-dir, when it is not /var/lib/podstead."`
	Socket  string `name:"socket" env:"PODSTEAD_SOCKET" placeholder:"PATH" help:"The agent's socket, when it is not where its root-dir says."`
}

// client returns a client whose warnings go to the terminal.
func (c connection) client(t Terminal) *api.Client {
	client := api.NewClient(config.Absolute(config.SocketPath(config.Absolute(c.RootDir), c.Socket)))
	client.Warn = func(text string) { t.Say("Warning: %s", text) }
	return client
}

// namespaced selects a namespace as kubectl does.
type namespaced struct {
	Namespace     string `short:"n" default:"default" placeholder:"NAMESPACE" help:"Namespace to look in."`
	AllNamespaces bool   `short:"A" help:"Look in all namespaces."`
}

// scope is the namespace to look in; "" for all.
func (n namespaced) scope() string {
	if n.AllNamespaces {
		return ""
	}
	return n.Namespace
}
