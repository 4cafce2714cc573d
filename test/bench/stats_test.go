package main

import "testing"

func TestMedianRank(t *testing.T) {
	// From tables of the sign test, two-sided 5 %.
	for n, want := range map[int]int{5: 0, 6: 1, 8: 1, 9: 2, 10: 2, 20: 6, 30: 10, 50: 18, 100: 40} {
		if got := medianRank(n); got != want {
			t.Errorf("n = %d: rank %d, want %d", n, got, want)
		}
	}
}

func TestEstimate(t *testing.T) {
	cases := []struct {
		name   string
		sample []float64
		want   interval
	}{
		{"empty", nil, interval{}},
		{"one", []float64{3}, interval{3, 3, 3}},
		{"too few for an interval: the extremes", []float64{4, 1, 3, 2}, interval{2.5, 1, 4}},
		{"ten: second from each end", []float64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, interval{5.5, 2, 9}},
		{"an outlier moves nothing", []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 1000}, interval{5.5, 2, 9}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := estimate(c.sample); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
