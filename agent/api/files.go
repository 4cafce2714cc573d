package api

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"time"
)

// fileStall is how long a client may hold up files on their way. While they are,
// the engine does nothing else with the container.
const fileStall = 20 * time.Second

// errStalled ends files whose client neither sends nor takes them.
var errStalled = errors.New("the client has held up the files for " + fileStall.String() + ", and the engine does nothing else with the container meanwhile; write them to a file first")

// FileRequest names a path in a container.
type FileRequest struct {
	Namespace string
	Pod       string // full name
	Container string
	Path      string // a relative one is from the container's working directory
}

// FilePlace is a path in a container, and what is there.
type FilePlace struct {
	Path string `json:"path"`           // absolute
	File *File  `json:"file,omitempty"` // nil when nothing is there
	UID  int    `json:"uid"`            // of the user that the container runs as
	GID  int    `json:"gid"`
}

// File is a file of a container.
type File struct {
	Mode    fs.FileMode `json:"mode"`
	Size    int64       `json:"size"`
	ModTime time.Time   `json:"modTime"`
	Target  string      `json:"target,omitempty"` // of a link: the absolute path it leads to
}

func fileRequest(r *http.Request) (FileRequest, error) {
	req := FileRequest{
		Namespace: r.PathValue("namespace"), Pod: r.PathValue("pod"), Container: r.PathValue("container"), Path: r.URL.Query().Get("path"),
	}
	if req.Path == "" {
		p := query{}
		p.fault("path", "must be a path in the container")
		return req, p.err
	}
	return req, nil
}

// filePlace answers what is at a path.
func (h Handlers) filePlace(w http.ResponseWriter, r *http.Request) {
	req, err := fileRequest(r)
	if h.FilePlace == nil {
		err = errNotServed
	}
	if err != nil {
		fail(w, err)
		return
	}
	place, err := h.FilePlace(r.Context(), req)
	answer(w, place, err)
}

// readFiles streams a tar of what is at a path. An error that comes after the
// answer has begun is told in a trailer, as with logs.
func (h Handlers) readFiles(w http.ResponseWriter, r *http.Request) {
	req, err := fileRequest(r)
	if h.ReadFiles == nil {
		err = errNotServed
	}
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/x-tar")
	w.Header().Set("Trailer", errorTrailer)
	out := &taking{w: w, rc: http.NewResponseController(w)}
	err = h.ReadFiles(r.Context(), req, out)
	switch {
	case err == nil || r.Context().Err() != nil:
	case out.begun:
		w.Header().Set(errorTrailer, strconv.QuoteToASCII(err.Error()))
	default:
		w.Header().Del("Trailer")
		w.Header().Del("Content-Type")
		fail(w, err)
	}
}

// writeFiles unpacks the tar that is sent in a directory.
func (h Handlers) writeFiles(w http.ResponseWriter, r *http.Request) {
	req, err := fileRequest(r)
	if h.WriteFiles == nil {
		err = errNotServed
	}
	rc := http.NewResponseController(w)
	if err == nil {
		err = h.WriteFiles(r.Context(), req, &giving{r: r.Body, rc: rc})
	}
	if err != nil {
		failEarly(w, r, rc, err)
	}
}

// failEarly answers while the client may still be sending. What it sends is thrown
// away until it has heard and goes, for one that finds nobody to send to does not
// look for the answer.
func failEarly(w http.ResponseWriter, r *http.Request, rc *http.ResponseController, err error) {
	if rc.EnableFullDuplex() != nil || rc.SetReadDeadline(time.Now().Add(fileStall)) != nil {
		fail(w, err)
		return
	}
	text := err.Error() + "\n"
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(text))) // it ends before the request does
	w.WriteHeader(statusOf(err))
	if _, err := io.WriteString(w, text); err == nil && rc.Flush() == nil {
		_, _ = io.Copy(io.Discard, r.Body)
	}
}

// taking writes to a client that must keep taking.
type taking struct {
	w     io.Writer
	rc    *http.ResponseController
	begun bool
}

func (t *taking) Write(p []byte) (int, error) {
	t.begun = true
	if err := t.rc.SetWriteDeadline(time.Now().Add(fileStall)); err != nil {
		return 0, err
	}
	n, err := t.w.Write(p)
	return n, stalled(err)
}

// giving reads from a client that must keep giving.
type giving struct {
	r  io.Reader
	rc *http.ResponseController
}

func (g *giving) Read(p []byte) (int, error) {
	if err := g.rc.SetReadDeadline(time.Now().Add(fileStall)); err != nil {
		return 0, err
	}
	n, err := g.r.Read(p)
	return n, stalled(err)
}

func stalled(err error) error {
	var late interface{ Timeout() bool }
	if errors.As(err, &late) && late.Timeout() {
		return errStalled
	}
	return err
}
