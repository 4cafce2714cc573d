package main

import (
	"math"
	"slices"
)

// interval is a median with the bounds that hold it with 95 % confidence.
type interval struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// estimate gives the median of a sample and its interval from the order
// statistics: how many of n values lie below the true median is binomial, so
// no shape of the distribution is assumed. A sample of fewer than six has no
// such interval; its bounds are then the extremes.
func estimate(sample []float64) interval {
	if len(sample) == 0 {
		return interval{}
	}
	sorted := slices.Sorted(slices.Values(sample))
	k := max(medianRank(len(sorted)), 1)
	return interval{Median: median(sorted), Low: sorted[k-1], High: sorted[len(sorted)-k]}
}

// medianRank is the largest k for which the k-th smallest and the k-th largest
// of n values enclose the median with at least 95 % confidence; 0 for none.
func medianRank(n int) int {
	k, below := 0, math.Pow(0.5, float64(n)) // P(none below)
	term := below
	for below <= 0.025 {
		k++
		term *= float64(n-k+1) / float64(k)
		below += term
	}
	return k
}

func median(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}
