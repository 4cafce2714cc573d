package sources

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// explain puts a transport's error into words that help, and that stay the same
// from look to look: without ports of ours, without the time of day.
func explain(err error) error {
	var (
		unknown  x509.UnknownAuthorityError
		host     x509.HostnameError
		invalid  x509.CertificateInvalidError
		notTLS   tls.RecordHeaderError
		lookup   *net.DNSError
		exchange *net.OpError
	)
	switch {
	case errors.As(err, &unknown):
		return fmt.Errorf("the server's certificate %sis signed by an unknown authority", nameOf(unknown.Cert))
	case errors.As(err, &host):
		return host
	case errors.As(err, &invalid):
		return explainInvalid(invalid)
	case errors.As(err, &notTLS), errors.Is(err, http.ErrSchemeMismatch):
		return errors.New("the server does not speak TLS there: is it http:// instead of https://?")
	case errors.As(err, &lookup):
		return explainLookup(lookup)
	case errors.As(err, &exchange):
		return fmt.Errorf("%s: %w", exchange.Op, explain(exchange.Err))
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("the connection was closed early")
	}
	return err
}

// dialFailed names the host and port that were asked for, whichever address of
// them was tried.
func dialFailed(address string, err error) error {
	var exchange *net.OpError
	if errors.As(err, &exchange) {
		err = exchange.Err
	}
	return fmt.Errorf("dial %s: %w", address, err)
}

// explainTLS puts what is wrong with a server's certificate into the words of
// explain, and leaves the rest of the error as it is.
func explainTLS(err error) error {
	var cause error
	if verification, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		cause = verification
	} else if record, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		cause = record
	} else if errors.Is(err, http.ErrSchemeMismatch) {
		cause = http.ErrSchemeMismatch
	} else {
		return err
	}
	return errors.New(strings.Replace(err.Error(), cause.Error(), explain(cause).Error(), 1))
}

// explainInvalid tells dates from other reasons. A wrong clock is the likeliest
// reason on a board that has none of its own.
func explainInvalid(e x509.CertificateInvalidError) error {
	if e.Reason != x509.Expired || e.Cert == nil {
		return e
	}
	const day = time.DateOnly
	now := time.Now()
	if now.Before(e.Cert.NotBefore) {
		return fmt.Errorf("the certificate %sis not valid before %s, and this machine's clock says %s: is it right?",
			nameOf(e.Cert), e.Cert.NotBefore.UTC().Format(day), now.UTC().Format(day))
	}
	return fmt.Errorf("the certificate %shas expired on %s (this machine's clock says %s)",
		nameOf(e.Cert), e.Cert.NotAfter.UTC().Format(day), now.UTC().Format(day))
}

// nameOf is the subject with a blank behind it.
func nameOf(cert *x509.Certificate) string {
	if cert == nil {
		return ""
	}
	return fmt.Sprintf("of %q ", cert.Subject.String())
}

func explainLookup(e *net.DNSError) error {
	switch {
	case e.IsNotFound:
		return fmt.Errorf("look up %s: no such host", e.Name)
	case e.IsTimeout:
		return fmt.Errorf("look up %s: no name server answers", e.Name)
	case strings.Contains(e.Err, "->"): // with a port of ours
		return fmt.Errorf("look up %s: no name server can be asked", e.Name)
	}
	return fmt.Errorf("look up %s: %s", e.Name, e.Err)
}
