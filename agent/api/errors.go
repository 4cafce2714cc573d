package api

import (
	"context"
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/podstead/podstead/runtime"
)

// ErrBadRequest is wrapped by what a client asked for wrongly.
var ErrBadRequest = errors.New("bad request")

// errNotServed answers a path whose view this agent does not have.
var errNotServed = errors.New("this agent does not serve that")

// statusOf is the one place where an error becomes an HTTP status. Errors that
// name their own (Kubernetes' API errors) keep it.
func statusOf(err error) int {
	var named apierrors.APIStatus
	switch {
	case errors.As(err, &named) && named.Status().Code >= 400:
		return int(named.Status().Code)
	case errors.Is(err, ErrBadRequest):
		return http.StatusBadRequest
	case errors.Is(err, runtime.ErrNotFound):
		return http.StatusNotFound
	case errors.Is(err, errNotServed):
		return http.StatusNotImplemented
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout
	case errors.Is(err, runtime.ErrUnavailable), errors.Is(err, context.Canceled):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// fail answers with the error's text, as the kubelet does.
func fail(w http.ResponseWriter, err error) {
	http.Error(w, err.Error(), statusOf(err))
}
