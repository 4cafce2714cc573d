package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"

	"github.com/podstead/podstead/runtime"
)

// How the text of an exit code begins; the reason of a refusal may follow.
const (
	exitPrefix = "command terminated with non-zero exit code: "
	exitWords  = "exit status %d"
)

// writeEnd tells how a session ended: as a Status, and by the oldest protocols, which
// know no exit code, as a text when it did not end well. A client that is gone needs
// none.
func writeEnd(to io.Writer, protocol string, err error) {
	if to == nil {
		return
	}
	end := statusOfEnd(err)
	switch protocol {
	case remotecommand.StreamProtocolV5Name, remotecommand.StreamProtocolV4Name, webSocketV4Base64:
		if text, err := json.Marshal(end); err == nil {
			_, _ = to.Write(text)
		}
	default:
		if err != nil {
			_, _ = io.WriteString(to, end.Message)
		}
	}
}

// statusOfEnd is what the kubelet tells of an end.
func statusOfEnd(err error) metav1.Status {
	var exit *runtime.ExitError
	switch {
	case err == nil:
		return metav1.Status{Status: metav1.StatusSuccess}
	case errors.As(err, &exit):
		text := exitPrefix + fmt.Sprintf(exitWords, exit.Code)
		if exit.Refused != "" {
			text += ": " + exit.Refused
		}
		return metav1.Status{
			Status: metav1.StatusFailure, Reason: remotecommand.NonZeroExitCodeReason, Message: text,
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{
				{Type: remotecommand.ExitCodeCauseType, Message: strconv.Itoa(exit.Code)},
			}},
		}
	}
	return metav1.Status{
		Status: metav1.StatusFailure, Reason: metav1.StatusReasonInternalError, Code: http.StatusInternalServerError,
		Message: internalPrefix + err.Error(),
	}
}

// internalPrefix is the kubelet's for all ends that are no exit code.
const internalPrefix = "Internal error occurred: "

// endOf is the reverse of statusOfEnd.
func endOf(status metav1.Status) error {
	if status.Status == metav1.StatusSuccess {
		return nil
	}
	if status.Reason == remotecommand.NonZeroExitCodeReason && status.Details != nil {
		for _, cause := range status.Details.Causes {
			code, err := strconv.Atoi(cause.Message)
			if cause.Type != remotecommand.ExitCodeCauseType || err != nil {
				continue
			}
			text := strings.TrimPrefix(status.Message, exitPrefix)
			text = strings.TrimPrefix(text, fmt.Sprintf(exitWords, code))
			return &runtime.ExitError{Code: code, Refused: strings.TrimPrefix(text, ": ")}
		}
	}
	return errors.New(strings.TrimPrefix(status.Message, internalPrefix))
}
