package agent

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/podstead/podstead/agent/plan"
)

// metrics are the agent's own. Labels are closed sets, never names of pods.
type metrics struct {
	workers  prometheus.Gauge
	duration *prometheus.HistogramVec
}

// newMetrics registers on reg; nil registers nowhere.
func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		workers: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "podstead_agent_workers", Help: "Pods that have a worker.",
		}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "podstead_agent_action_seconds", Help: "Time of actions on the engine, by action and reason.",
			Buckets: prometheus.ExponentialBuckets(0.002, 2.5, 10),
		}, []string{"action", "reason"}),
	}
	if reg == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.workers, m.duration} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *metrics) acted(a plan.Action, took time.Duration) {
	m.duration.WithLabelValues(string(a.Verb), string(a.Reason)).Observe(took.Seconds())
}
