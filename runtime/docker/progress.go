package docker

import (
	"strings"

	"github.com/podstead/podstead/runtime"
)

// layers is what a pull's messages have told so far, by layer.
type layers map[string]layer

type layer struct {
	status         string
	current, total int64
}

// note takes a message in. Only a download counts bytes; what extraction
// counts is the same bytes again.
func (l layers) note(msg message) {
	if msg.ID == "" || strings.HasPrefix(msg.Status, "Pulling from") {
		return
	}
	seen := l[msg.ID]
	seen.status = msg.Status
	switch msg.Status {
	case "Downloading":
		seen.current, seen.total = msg.ProgressDetail.Current, msg.ProgressDetail.Total
	case "Download complete", "Verifying Checksum", "Pull complete":
		seen.current = seen.total
	}
	l[msg.ID] = seen
}

// mayStandStill reports whether silence is no sign of a dead registry: some
// layer is being verified or extracted, or all have been downloaded.
func (l layers) mayStandStill() bool {
	if len(l) == 0 {
		return false
	}
	downloading := false
	for _, layer := range l {
		switch layer.status {
		case "Extracting", "Verifying Checksum":
			return true
		case "Download complete", "Pull complete", "Already exists":
		default:
			downloading = true
		}
	}
	return !downloading
}

func (l layers) progress(status string) runtime.Progress {
	p := runtime.Progress{Status: status}
	for _, layer := range l {
		p.Current += layer.current
		p.Total += layer.total
	}
	return p
}
