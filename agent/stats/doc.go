// Package stats turns what the engine and the kernel tell of usage into the
// kubelet's Summary. Pairs of readings go in, each taken some time apart; rates
// come out. It measures nothing of its own accord, keeps nothing, and but for
// ReadNode is pure.
package stats
