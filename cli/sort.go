package cli

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
)

// sorted returns the items in the order of what a path finds in each: numbers and
// quantities by their value, all else by its letters with numbers in it counted as
// such. Items without it come first; when it is in none that is an error.
func sorted[T any](items []T, path string) ([]T, error) {
	if path == "" || len(items) == 0 {
		return items, nil
	}
	compiled, err := newPath(path)
	if err != nil {
		return nil, &Exit{Code: ExitConfig, Err: fmt.Errorf("--sort-by: %w", err)}
	}
	type keyed struct {
		item T
		key  any // nil for none
	}
	all, some := make([]keyed, len(items)), false
	for i, item := range items {
		object, err := untyped(item)
		if err != nil {
			return nil, err
		}
		results, err := compiled.FindResults(object.Object)
		if err != nil {
			return nil, fmt.Errorf("--sort-by %q: %w", path, err)
		}
		all[i].item = item
		if len(results) > 0 && len(results[0]) > 0 {
			all[i].key, some = results[0][0].Interface(), true
		}
	}
	if !some {
		return nil, &Exit{Code: ExitConfig, Err: fmt.Errorf("--sort-by: none of them has a field %q; -o yaml shows their fields", path)}
	}
	slices.SortStableFunc(all, func(a, b keyed) int { return compareKeys(a.key, b.key) })
	for i := range all {
		items[i] = all[i].item
	}
	return items, nil
}

// compareKeys compares two values that came out of JSON.
func compareKeys(a, b any) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	x, xIsNumber := number(a)
	y, yIsNumber := number(b)
	if xIsNumber && yIsNumber {
		return cmp.Compare(x, y)
	}
	s, t := fmt.Sprint(a), fmt.Sprint(b)
	p, err := resource.ParseQuantity(s)
	q, other := resource.ParseQuantity(t)
	if err == nil && other == nil {
		return p.Cmp(q)
	}
	return compareNatural(s, t)
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// compareNatural compares texts so that web-9 comes before web-10.
func compareNatural(a, b string) int {
	for a != "" && b != "" {
		m, n := digits(a), digits(b)
		if m == 0 || n == 0 {
			if a[0] != b[0] {
				return cmp.Compare(a[0], b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		x, y := trimZeros(a[:m]), trimZeros(b[:n])
		if d := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y), cmp.Compare(m, n)); d != 0 {
			return d
		}
		a, b = a[m:], b[n:]
	}
	return cmp.Compare(len(a), len(b))
}

// digits is how many digits a text begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

func trimZeros(s string) string {
	for len(s) > 1 && s[0] == '0' {
		s = s[1:]
	}
	return s
}
