package sources

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// maxCredentialFile bounds a token, password, key or bundle of certificates.
const maxCredentialFile = 1 << 20

// httpFiles is what the files of a source hold at one look.
type httpFiles struct {
	token, password string
	ca, cert, key   []byte
}

// readFiles reads them all. An error names the file, never what is in it.
func (s *httpSettings) readFiles() (httpFiles, error) {
	var f httpFiles
	var errs []error
	read := func(path string) []byte {
		if path == "" {
			return nil
		}
		data, err := readCredential(path)
		errs = append(errs, err)
		return data
	}
	word := func(path string) string {
		text := strings.TrimRight(string(read(path)), "\r\n")
		if strings.ContainsFunc(text, noHeaderText) {
			errs = append(errs, fmt.Errorf("%s holds more than one line", path))
		}
		return text
	}
	f.token, f.password = strings.TrimSpace(word(s.TokenFile)), word(s.PasswordFile)
	f.ca, f.cert, f.key = read(s.CAFile), read(s.CertFile), read(s.KeyFile)
	return f, errors.Join(errs...)
}

// readCredential reads a small file that must be there and hold something.
func readCredential(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is %s, not a file", path, kindOfFile(info.Mode()))
	case info.Size() > maxCredentialFile:
		return nil, fmt.Errorf("%s is larger than the limit of %d bytes", path, maxCredentialFile)
	}
	data, err := readSize(file, info.Size())
	if err == nil && len(bytes.TrimSpace(data)) == 0 {
		err = fmt.Errorf("%s is empty", path)
	}
	return data, err
}

// tlsSum tells whether what the transport is made of has changed.
func (f httpFiles) tlsSum() digest {
	return sumFiles([]unitFile{{"ca", f.ca}, {"cert", f.cert}, {"key", f.key}})
}

// asked is a digest of all that an answer is an answer to, beside the URL that
// gave it: validators of one question say nothing about another.
func (s *httpSettings) asked() digest {
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q", s.url, s.User)
	// Write sorts them.
	_ = s.Headers.Write(sum)
	return digest(sum.Sum(nil))
}
