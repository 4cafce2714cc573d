package main

import "testing"

func TestGrowthIsJudgedInTheSecondHalf(t *testing.T) {
	tests := []struct {
		name  string
		files func(i int) int
		flat  bool
	}{
		{"nothing grows", func(int) int { return 10 }, true},
		{"it grows until it is full", func(i int) int { return min(i, 40) }, true},
		{"it grows on", func(i int) int { return i / 10 }, false},
		{"it shakes", func(i int) int { return 10 + i%3 }, true},
		{"it shrinks", func(i int) int { return 100 - i }, true},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			var samples []sample
			for i := range 100 {
				samples = append(samples, sample{Files: tc.files(i)})
			}
			if err := judge(measures(), samples); (err == nil) != tc.flat {
				t.Errorf("verdict %v, want flat %v", err, tc.flat)
			}
		})
	}
}
