package api

import (
	"net/http"

	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	"k8s.io/streaming/pkg/httpstream/wsstream"
)

// The WebSocket protocols beside the newest, in which alone a client can end its
// input and go on listening.
const (
	webSocketV4       = "v4." + wsstream.ChannelWebSocketProtocol
	webSocketV4Base64 = "v4." + wsstream.Base64ChannelWebSocketProtocol
)

// serveWebSocket serves the streams as channels of one connection.
func (v *visit) serveWebSocket(w http.ResponseWriter, r *http.Request) {
	binary := wsstream.ChannelProtocolConfig{Binary: true, Channels: v.channels()}
	text := wsstream.ChannelProtocolConfig{Channels: v.channels()}
	conn := wsstream.NewConn(map[string]wsstream.ChannelProtocolConfig{
		"":                                      binary,
		wsstream.ChannelWebSocketProtocol:       binary,
		wsstream.Base64ChannelWebSocketProtocol: text,
		webSocketV4:                             binary,
		webSocketV4Base64:                       text,
		remotecommand.StreamProtocolV5Name:      binary,
	})
	conn.SetIdleTimeout(v.idle)
	protocol, channels, err := conn.Open(w, r)
	if err != nil {
		return // the client has been told
	}
	defer conn.Close()
	if _, err := channels[v.first()].Write(nil); err != nil { // tells that it stands
		return
	}
	err = v.run(r.Context(), ends{
		remotecommand.StreamTypeStdin:  channels[remotecommand.StreamStdIn],
		remotecommand.StreamTypeStdout: channels[remotecommand.StreamStdOut],
		remotecommand.StreamTypeStderr: channels[remotecommand.StreamStdErr],
		remotecommand.StreamTypeResize: channels[remotecommand.StreamResize],
	})
	writeEnd(channels[remotecommand.StreamErr], protocol, err)
}

func (v *visit) channels() []wsstream.ChannelType {
	kinds := make([]wsstream.ChannelType, remotecommand.StreamResize+1) // ignored, unless
	for channel, wanted := range map[int]bool{
		remotecommand.StreamStdOut: v.opts.Stdout, remotecommand.StreamStdErr: v.opts.Stderr, remotecommand.StreamErr: true,
	} {
		if wanted {
			kinds[channel] = wsstream.WriteChannel
		}
	}
	for channel, wanted := range map[int]bool{remotecommand.StreamStdIn: v.opts.Stdin, remotecommand.StreamResize: v.opts.TTY} {
		if wanted {
			kinds[channel] = wsstream.ReadChannel
		}
	}
	return kinds
}

// first is the lowest channel that the client reads.
func (v *visit) first() int {
	switch {
	case v.opts.Stdout:
		return remotecommand.StreamStdOut
	case v.opts.Stderr:
		return remotecommand.StreamStdErr
	}
	return remotecommand.StreamErr
}
