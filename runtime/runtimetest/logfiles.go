package runtimetest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"
)

// KeepLogs gives each container that starts from now on a log file below dir, as
// Docker's json-file driver does: with the lines that it prints at its start, until
// it is removed. Without it the engine keeps no files.
func (f *Fake) KeepLogs(dir string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.logDir = dir
}

// openLog writes what a process printed at its start.
func (f *Fake) openLog(o *object) {
	if f.logDir == "" || o.cfg == nil {
		return
	}
	var text []byte
	for _, l := range o.lines {
		stream := "stdout"
		if l.stderr {
			stream = "stderr"
		}
		line, _ := json.Marshal(map[string]string{"log": l.text + "\n", "stream": stream, "time": l.at.Format(time.RFC3339Nano)}) // never fails
		text = append(append(text, line...), '\n')
	}
	path := filepath.Join(f.logDir, o.id, o.id+"-json.log")
	// A disk that fails leaves no file, and the test that wants one says so.
	_ = os.MkdirAll(filepath.Dir(path), 0o700)
	_ = os.WriteFile(path, text, 0o600)
	o.logPath = path
}

func (f *Fake) dropLog(o *object) {
	if o.logPath != "" {
		_ = os.RemoveAll(filepath.Dir(o.logPath)) // as openLog
	}
}
