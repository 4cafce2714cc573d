package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestLogIsReadable(t *testing.T) {
	for _, format := range []string{"json", "text"} {
		t.Run(format, func(t *testing.T) {
			var out bytes.Buffer
			newLogger(&out, slog.LevelInfo, format).Info("acted",
				"container", "", "attempt", 0, "took", 58*time.Millisecond)
			line := out.String()
			if strings.Contains(line, "container") {
				t.Errorf("an empty attribute is written: %s", line)
			}
			for _, want := range []string{"58ms", "acted", "attempt"} {
				if !strings.Contains(line, want) {
					t.Errorf("%q is missing: %s", want, line)
				}
			}
		})
	}
}
