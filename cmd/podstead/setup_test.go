package main

import (
	"errors"
	"testing"
	"time"

	"github.com/podstead/podstead/config"
)

func TestAFaultOfTheConfigurationIsNewOnce(t *testing.T) {
	s := newSetup(config.Config{}, time.Now())
	for i, c := range []struct {
		err  error
		news bool
	}{{nil, false}, {errors.New("a"), true}, {errors.New("a"), false}, {errors.New("b"), true}, {nil, true}, {errors.New("b"), true}} {
		if news := s.refuse(c.err); news != c.news {
			t.Errorf("step %d: %v", i, news)
		}
	}
}
