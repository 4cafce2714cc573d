package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"

	"github.com/podstead/podstead/runtime"
)

var inMain = FileRequest{Namespace: "default", Pod: "web-n1", Container: "main", Path: "/etc/a b%2f"}

func TestFilePlacesTravelUnchanged(t *testing.T) {
	want := FilePlace{Path: "/etc/a", UID: 7, GID: 8, File: &File{Mode: fs.ModeSymlink | 0o777, Size: 3, ModTime: time.Unix(1e9, 5).UTC(), Target: "/b"}}
	c := serve(t, Handlers{FilePlace: func(_ context.Context, req FileRequest) (FilePlace, error) {
		if req != inMain {
			return FilePlace{}, fmt.Errorf("%w: %+v", ErrBadRequest, req)
		}
		return want, nil
	}})
	got, err := c.FilePlace(t.Context(), inMain)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	var answered *AnswerError
	if _, err := c.FilePlace(t.Context(), FileRequest{Namespace: "default", Pod: "web-n1", Container: "main"}); !errors.As(err, &answered) || answered.Code != http.StatusBadRequest {
		t.Errorf("no path: %v", err)
	}
}

func TestFilesGoBothWays(t *testing.T) {
	data := random(t, 3<<20)
	var got []byte
	c := serve(t, Handlers{
		ReadFiles: func(_ context.Context, _ FileRequest, out io.Writer) error {
			_, err := out.Write(data)
			return err
		},
		WriteFiles: func(_ context.Context, _ FileRequest, archive io.Reader) (err error) {
			got, err = io.ReadAll(archive)
			return err
		},
	})
	var out bytes.Buffer
	err := c.ReadFiles(t.Context(), inMain, func(archive io.Reader) error {
		_, err := io.Copy(&out, archive)
		return err
	})
	if err != nil || !bytes.Equal(out.Bytes(), data) {
		t.Errorf("%d bytes, %v", out.Len(), err)
	}
	err = c.WriteFiles(t.Context(), inMain, func(archive io.Writer) error {
		_, err := archive.Write(data)
		return err
	})
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// What goes wrong is told, before the first byte and after it.
func TestReadingFilesTellsWhatWentWrong(t *testing.T) {
	for _, test := range []struct {
		name, before string
	}{
		{name: "at once"},
		{name: "in the middle", before: "half"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := serve(t, Handlers{ReadFiles: func(_ context.Context, _ FileRequest, out io.Writer) error {
				if test.before != "" {
					_, _ = io.WriteString(out, test.before)
				}
				return fmt.Errorf("the disk is gone: %w", runtime.ErrUnavailable)
			}})
			err := c.ReadFiles(t.Context(), inMain, func(archive io.Reader) error {
				if got, err := io.ReadAll(archive); err != nil || string(got) != test.before {
					return fmt.Errorf("%q, %w", got, err)
				}
				return errors.New("cut short")
			})
			if err == nil || err.Error() != "the disk is gone: engine unavailable" {
				t.Errorf("got %v", err)
			}
		})
	}
}

// An agent that refuses is heard by one who has much to send, and at once.
func TestWritingFilesTellsARefusalAtOnce(t *testing.T) {
	for _, test := range []struct {
		name string
		read int64
		code int
		err  error
	}{
		{name: "before it reads", code: http.StatusNotFound, err: runtime.ErrNotFound},
		{name: "after some", read: 1 << 20, code: http.StatusInternalServerError, err: runtime.ErrNoSpace},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := serve(t, Handlers{WriteFiles: func(_ context.Context, _ FileRequest, archive io.Reader) error {
				if _, err := io.CopyN(io.Discard, archive, test.read); err != nil {
					return err
				}
				return fmt.Errorf("write: %w", test.err)
			}})
			err := c.WriteFiles(t.Context(), inMain, func(archive io.Writer) error {
				for { // never ends by itself
					if _, err := archive.Write(make([]byte, 64<<10)); err != nil {
						return err
					}
				}
			})
			var answered *AnswerError
			if !errors.As(err, &answered) || answered.Code != test.code || answered.Text != "write: "+test.err.Error() {
				t.Errorf("got %v", err)
			}
		})
	}
}

// An archive that breaks off where it is made is no whole archive where it goes.
func TestWritingFilesTellsWhatItsMakerSays(t *testing.T) {
	heard := make(chan error, 1)
	c := serve(t, Handlers{WriteFiles: func(_ context.Context, _ FileRequest, archive io.Reader) error {
		_, err := io.Copy(io.Discard, archive)
		heard <- err
		return err
	}})
	broken := errors.New("cannot read a local file")
	err := c.WriteFiles(t.Context(), inMain, func(archive io.Writer) error {
		_, _ = io.WriteString(archive, "half")
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if err := <-heard; err == nil {
		t.Error("the agent takes it for whole")
	}
}

// A client that holds up files holds up the container: it is left.
func TestFilesThatAreHeldUpAreGivenUp(t *testing.T) {
	if err := stalled(late{}); !errors.Is(err, errStalled) {
		t.Errorf("got %v", err)
	}
	if err := stalled(io.EOF); !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
}

type late struct{}

func (late) Error() string { return "i/o timeout" }

func (late) Timeout() bool { return true }

func TestStatsAreTheKubelets(t *testing.T) {
	nano, bytes := uint64(5), uint64(6)
	cpu, memory := &statsapi.CPUStats{UsageNanoCores: &nano}, &statsapi.MemoryStats{WorkingSetBytes: &bytes}
	whole := statsapi.Summary{
		Node: statsapi.NodeStats{NodeName: "n1", StartTime: metav1.Unix(1e9, 0), CPU: cpu, Memory: memory},
		Pods: []statsapi.PodStats{{
			PodRef: statsapi.PodReference{Name: "web-n1", Namespace: "default", UID: "u1"}, CPU: cpu, Memory: memory,
			Containers: []statsapi.ContainerStats{{Name: "main", CPU: cpu, Memory: memory}},
			Network:    &statsapi.NetworkStats{InterfaceStats: statsapi.InterfaceStats{Name: "eth0", RxBytes: &bytes}},
		}},
	}
	c := serve(t, Handlers{Stats: func(context.Context) (*statsapi.Summary, error) { return &whole, nil }})
	got, err := c.Stats(t.Context())
	if err != nil || len(got.Pods) != 1 || got.Pods[0].Network == nil || *got.Pods[0].Containers[0].CPU.UsageNanoCores != 5 || got.Node.NodeName != "n1" {
		t.Errorf("%+v, %v", got, err)
	}
	var short statsapi.Summary
	if err := c.get(t.Context(), "/stats/summary", map[string][]string{"only_cpu_and_memory": {"true"}}, &short); err != nil {
		t.Fatal(err)
	}
	if len(short.Pods) != 1 || short.Pods[0].Network != nil || short.Pods[0].CPU == nil || short.Node.Memory == nil {
		t.Errorf("%+v", short)
	}
	if whole.Pods[0].Network == nil {
		t.Error("what was measured has been changed")
	}
	err = c.get(t.Context(), "/stats/summary", map[string][]string{"only_cpu_and_memory": {"perhaps"}}, &short)
	if err == nil || !strings.Contains(err.Error(), "only_cpu_and_memory") {
		t.Errorf("got %v", err)
	}
}
