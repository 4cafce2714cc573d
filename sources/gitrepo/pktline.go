package gitrepo

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
)

// packet is what kind a pkt-line is.
type packet int

const (
	packetData  packet = iota
	packetFlush        // 0000
	packetDelim        // 0001
	packetEnd          // 0002
)

// errProtocol is an answer that is no git server's of the version expected.
var errProtocol = errors.New("the answer is not git's protocol")

// pktReader reads pkt-lines. What it returns holds until the next read.
type pktReader struct {
	r    *bufio.Reader
	left int64 // bytes that may still come
	buf  [65520]byte
}

// maxAnswer bounds what a server lists.
const maxAnswer = 64 << 20

func newPktReader(r io.Reader) *pktReader {
	return &pktReader{r: bufio.NewReaderSize(r, 32<<10), left: maxAnswer}
}

// next returns a packet and its payload. A packet in which the server says that
// it gives up is a remoteError.
func (p *pktReader) next() (packet, []byte, error) {
	if _, err := io.ReadFull(p.r, p.buf[:4]); err != nil {
		return 0, nil, ended(err)
	}
	size, err := strconv.ParseUint(string(p.buf[:4]), 16, 16)
	switch {
	case err != nil, size == 3, size > uint64(len(p.buf)):
		return 0, nil, errProtocol
	case size < 3:
		return packet(size) + packetFlush, nil, nil
	}
	if p.left -= int64(size); p.left < 0 {
		return 0, nil, errTooLong
	}
	payload := p.buf[4:size]
	if _, err := io.ReadFull(p.r, payload); err != nil {
		return 0, nil, ended(err)
	}
	if text, gaveUp := bytes.CutPrefix(payload, []byte("ERR ")); gaveUp {
		return 0, nil, &remoteError{printable(string(text))}
	}
	return packetData, payload, nil
}

// line returns a packet whose payload is text.
func (p *pktReader) line() (packet, string, error) {
	kind, payload, err := p.next()
	return kind, strings.TrimSuffix(string(payload), "\n"), err
}

// skip reads to the end of a section and tells what ended it.
func (p *pktReader) skip() (packet, error) {
	for {
		if kind, _, err := p.next(); err != nil || kind != packetData {
			return kind, err
		}
	}
}

// errTooLong is an answer beyond its limit.
var errTooLong = errors.New("the server's answer is too long")

func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errEarlyEnd
	}
	return err
}

// errEarlyEnd is an answer that was cut off.
var errEarlyEnd = fmt.Errorf("%w: it ends too early", errProtocol)

// pktWriter puts a request together.
type pktWriter struct{ bytes.Buffer }

func (w *pktWriter) linef(format string, args ...any) {
	text := fmt.Sprintf(format, args...) + "\n"
	fmt.Fprintf(w, "%04x%s", len(text)+4, text)
}

func (w *pktWriter) flush() { w.WriteString("0000") }
func (w *pktWriter) delim() { w.WriteString("0001") }

// remoteText is how much of what a server says is shown.
const remoteText = 300

// printable makes one short line of what somebody else wrote.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(s, "?"))
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > remoteText {
		s = strings.ToValidUTF8(s[:remoteText], "") + "…"
	}
	return s
}
