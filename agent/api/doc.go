// Package api serves what the agent knows over a unix socket that only root can
// open, and holds the client of it. The paths that the kubelet has answer as
// the kubelet's do (/healthz, /pods, /runningpods/, /containerLogs/…,
// /metrics); what the kubelet has not lies under /podstead/v1/.
//
// The package knows no agent: cmd/podstead hands it one function per view
// (Handlers), and a view without a function answers 501. Server.Run blocks and
// owns the listener, the connections and every stream; it ends them all before
// it returns.
package api
