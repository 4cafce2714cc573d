package docker

import (
	"context"
	"errors"
	"time"

	"github.com/podstead/podstead/runtime"
	"github.com/prometheus/client_golang/prometheus"
)

// metrics count and time the engine's calls. For streams (pull, logs) the time
// is that to the first answer.
type metrics struct {
	seconds *prometheus.HistogramVec
	errors  *prometheus.CounterVec
}

func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "podstead_engine_call_seconds",
			Help:    "Time the container engine took to answer, by call.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 60},
		}, []string{"call"}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "podstead_engine_call_errors_total",
			Help: "Engine calls that ended in an error, by call and kind of error.",
		}, []string{"call", "kind"}),
	}
	if registerer == nil {
		return m, nil
	}
	return m, errors.Join(registerer.Register(m.seconds), registerer.Register(m.errors))
}

func (m *metrics) observe(call string, took time.Duration, err error) {
	m.seconds.WithLabelValues(call).Observe(took.Seconds())
	if err != nil {
		m.errors.WithLabelValues(call, kindName(err)).Inc()
	}
}

// kindName puts an error into a closed set of words.
func kindName(err error) string {
	switch {
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.Is(err, runtime.ErrUnavailable):
		return "unavailable"
	case errors.Is(err, runtime.ErrNotFound):
		return "not_found"
	default:
		return "refused"
	}
}
