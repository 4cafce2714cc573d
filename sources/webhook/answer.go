package webhook

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// answer takes one push. Who does not know the secret learns nothing; who does
// is told which sources look.
func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path != s.cfg.Path:
		http.NotFound(w, r)
		return
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "only POST", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(r.Body)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		http.Error(w, "too large", http.StatusRequestEntityTooLarge)
		return
	case err != nil:
		http.Error(w, "body cannot be read", http.StatusBadRequest)
		return
	}
	if err := s.authentic(r.Header, body); err != nil {
		s.refuse(w, r, err)
		return
	}
	s.take(w, r, readPush(r.Header, body))
}

// refuse says no without a detail; the log says why, now and then.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if before, ok := s.refusals.allow(time.Now()); ok {
		s.cfg.Logger.Warn("webhook refused", "from", r.RemoteAddr, "err", err, "unloggedBefore", before)
	}
	http.Error(w, "unauthorized", http.StatusUnauthorized)
}

// take lets the sources that the push concerns look, without waiting for them.
func (s *Server) take(w http.ResponseWriter, r *http.Request, p push) {
	names := p.selects(s.cfg.Targets())
	if len(names) == 0 {
		s.cfg.Logger.Debug("webhook concerns no source", "event", eventOf(r.Header), "ref", p.ref)
		fmt.Fprintln(w, "nothing to do")
		return
	}
	select {
	case s.asked <- names:
		s.cfg.Logger.Info("webhook: sources look", "sources", names, "ref", p.ref)
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprintln(w, "looking: "+strings.Join(names, ", "))
	case <-r.Context().Done():
		http.Error(w, "shutting down", http.StatusServiceUnavailable)
	}
}
