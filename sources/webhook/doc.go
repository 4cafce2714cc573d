// Package webhook listens for the pushes of git servers. What comes in is a
// signed HTTP request; what goes out is a call that makes a source look now,
// never more: nothing of a request is believed but that it is worth a look. It
// runs on an address of its own, and only when it has a secret to ask for.
// cmd/podstead runs it.
package webhook
