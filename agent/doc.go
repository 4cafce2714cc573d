// Package agent makes a container engine run exactly the pods that the sources
// want, and tells the truth about them.
//
//	PodUpdates ──> syncLoop ──order──> worker ──> observe ──> plan ──> act ──> runtime
//	                  ^ │  <──report──   (one per pod)  ^                │
//	 engine events ───┘ └──wake──────────> mailbox ─────┘                v
//	                                                     status.Store, events.Recorder
//
// PodUpdates and engine events come in; calls of the runtime's verbs, pod
// records on disk, statuses and events come out. Run blocks and owns every
// goroutine: the sync loop, one that looks at the whole engine now and then,
// one that pulls images, and one worker per pod.
//
// The loop keeps the tenancy: who is wanted, who is there, who follows whom. It
// never waits and does no I/O: each of its cases is a look-up and a mailbox
// write. Of one full name at most one pod runs and at most one more is prepared
// to follow it behind a gate; release decides, for all of them at once, who may
// pass and whose predecessor ends.
//
// A worker owns its pod's whole life, Preparing, Syncing, Terminating,
// Terminated, and every effect on it. Each round it observes its pod on the
// engine, asks package plan what to do, does it, and observes again. Nothing it
// remembers is needed to go on: what runs is on the engine, why it runs and
// what ended is in the pod's record. So the agent may be killed at any point,
// and engine events need only wake, never inform.
package agent
