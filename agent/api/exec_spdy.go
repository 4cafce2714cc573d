package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

// arrival is a stream that the client has opened.
type arrival struct {
	stream  httpstream.Stream
	replied <-chan struct{} // closed when the client has been told that it stands
}

// serveSPDY takes the streams that the client opens, each with its type in a header.
func (v *visit) serveSPDY(w http.ResponseWriter, r *http.Request) {
	protocol, err := httpstream.Handshake(r, w, remotecommand.SupportedStreamingProtocols)
	if err != nil {
		return // the client has been told
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	arrivals := make(chan arrival)
	conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(s httpstream.Stream, replied <-chan struct{}) error {
		select {
		case arrivals <- arrival{s, replied}:
			return nil
		case <-ctx.Done():
			return errors.New("no further stream was asked for")
		}
	})
	if conn == nil {
		return // the client has been told
	}
	defer conn.Close()
	conn.SetIdleTimeout(v.idle)
	from := ends{}
	for !from.have(v.wanted(protocol)) {
		if !from.await(ctx, arrivals, conn.CloseChan()) {
			return
		}
	}
	writeEnd(from[remotecommand.StreamTypeError], protocol, v.run(ctx, from))
}

// wanted are the streams that the client opens: that of the end, and those that it
// asked for.
func (v *visit) wanted(protocol string) []string {
	types := []string{remotecommand.StreamTypeError}
	for also, asked := range map[string]bool{
		remotecommand.StreamTypeStdin: v.opts.Stdin, remotecommand.StreamTypeStdout: v.opts.Stdout,
		remotecommand.StreamTypeStderr: v.opts.Stderr, remotecommand.StreamTypeResize: v.opts.TTY && sizes(protocol),
	} {
		if asked {
			types = append(types, also)
		}
	}
	return types
}

func (e ends) have(types []string) bool {
	return !slices.ContainsFunc(types, func(of string) bool { return e[of] == nil })
}

// sizes reports whether the protocol carries a terminal's sizes.
func sizes(protocol string) bool {
	return protocol == remotecommand.StreamProtocolV4Name || protocol == remotecommand.StreamProtocolV3Name
}

// await takes one stream more, and reports whether one came in time.
func (e ends) await(ctx context.Context, arrivals <-chan arrival, gone <-chan bool) bool {
	patience := time.NewTimer(streamCreation)
	defer patience.Stop()
	select {
	case next := <-arrivals:
		e[next.stream.Headers().Get(remotecommand.StreamType)] = next.stream
		select {
		case <-next.replied:
			return true
		case <-gone:
		case <-ctx.Done():
		}
	case <-gone:
	case <-ctx.Done():
	case <-patience.C:
	}
	return false
}
