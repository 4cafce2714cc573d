package manifests

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// weighing finds an upper bound of the values and keys in a YAML text: a parser's
// nodes cost so much memory that they must be counted before there are any. Each
// character that can introduce a value counts for all that it can introduce. What
// stands in block scalars and in quotes is left out as far as a look at single
// lines can tell it surely, since a ConfigMap may hold a megabyte of JSON; from the
// first line on that leaves a doubt, everything counts. So the bound may be too
// high, and is too low by the root of each document at the most.
type weighing struct {
	data  []byte
	next  int // where the next line begins
	start int // where the one at hand begins
	line  int // its number, from 1
	total int
	flow  bool // a list or an object in brackets may be open
	doubt bool // a string may be open
}

// overweight is the line at which a text exceeds the limit, 0 if it does not.
func overweight(data []byte, limit int) int {
	w := weighing{data: data, doubt: hasRareBreaks(data)}
	for w.next < len(data) {
		text, line := w.take(), w.line
		if w.weigh(text); w.total > limit {
			return line
		}
	}
	return 0
}

// hasRareBreaks reports line breaks that YAML knows beside LF and CRLF.
func hasRareBreaks(data []byte) bool {
	return bytes.ContainsAny(data, "\u0085\u2028\u2029") ||
		bytes.Count(data, []byte("\r")) != bytes.Count(data, []byte("\r\n"))
}

// peek is the next line, and where the one behind it begins.
func (w *weighing) peek() (line []byte, behind int) {
	rest := w.data[w.next:]
	if length := bytes.IndexByte(rest, '\n'); length >= 0 {
		return bytes.TrimSuffix(rest[:length], []byte("\r")), w.next + length + 1
	}
	return rest, len(w.data)
}

func (w *weighing) take() []byte {
	line, behind := w.peek()
	w.start, w.next = w.next, behind
	w.line++
	return line
}

// weigh takes a line that begins outside of strings.
func (w *weighing) weigh(line []byte) {
	e := entryOf(line)
	c := byteAt(line, e.value)
	quote := c == '"' || c == '\''
	switch {
	case w.doubt:
		w.count(line)
	case c == '#' && e.value == len(line)-len(bytes.TrimLeft(line, " ")): // nothing but a comment
	case (c == '|' || c == '>') && (e.keyed || e.dashed && !w.flow) && endsHeader(line[e.value+1:], "+-"):
		w.count(line[:e.value])
		w.skipBlock(e.column)
	case quote && e.keyed:
		w.count(line[:e.value])
		w.skipQuoted(e.value)
	case quote && !w.flow: // in brackets it may go on with the text of a line before
		w.count(line[:e.value])
		w.inLine(line, e.value, true)
	default:
		w.inLine(line, 0, false)
	}
}

// inLine weighs a line from one of its characters on. opens says of that one that
// it is a quote which begins a value; others are such when they follow a bracket, a
// comma, or a colon and a space. A string ends in its line, or there is a doubt.
func (w *weighing) inLine(line []byte, from int, opens bool) {
	var open []byte // brackets of this line
	odd := false
	for i := from; i < len(line); i++ {
		switch c := line[i]; {
		case (c == '"' || c == '\'') && (opens || !inWord(line, i)):
			end := closing(line[i:])
			if w.doubt = end < 0 || !opens && !mayOpen(line[:i]); !w.doubt {
				i += end
			}
		case c == '|' || c == '>':
			w.doubt = isSpace(byteAt(line, i-1)) && endsHeader(line[i+1:], "+-0123456789")
		case c == '[' || c == '{':
			open = append(open, c)
		case (c == ']' || c == '}') && len(open) > 0:
			open = open[:len(open)-1]
		case c == ']' || c == '}' || c == '#':
			odd = true
		}
		opens = false
		if w.doubt {
			w.count(line[i:])
			return
		}
		w.total += introduces(line, i, byteAt(open, len(open)-1))
	}
	w.flow = w.flow || len(open) > 0 || odd && bytes.ContainsAny(line, "[{")
}

// skipBlock passes over a block scalar: the lines that are indented as deep as its
// first, and deeper than the column of what it belongs to.
func (w *weighing) skipBlock(column int) {
	depth, begun := column+1, false
	for ; w.next < len(w.data); w.take() {
		line, _ := w.peek()
		indent := len(line) - len(bytes.TrimLeft(line, " "))
		switch blank := indent == len(line); {
		case blank && !begun:
			depth = max(depth, indent)
		case blank:
		case indent < depth:
			return
		case !begun:
			depth, begun = indent, true
		}
	}
}

// skipQuoted passes over a string that begins at a place of the line at hand and
// may go on over others. One that never ends is the rest of it all.
func (w *weighing) skipQuoted(at int) {
	begin := w.start + at
	length := closing(w.data[begin:])
	if length < 0 {
		w.next = len(w.data)
		return
	}
	w.line += bytes.Count(w.data[begin:begin+length], []byte("\n")) - 1 // the last is taken once more
	w.next = begin + length + 1
	w.inLine(w.take(), 0, false)
}

func (w *weighing) count(text []byte) {
	for i := range text {
		w.total += introduces(text, i, 0)
	}
}

// introduces is how many values and keys may stand behind a character before the
// next one that counts, inside of a bracket if it is known: in an object a comma may
// be followed by a key without a value.
func introduces(text []byte, i int, bracket byte) int {
	switch c, before, behind := text[i], byteAt(text, i-1), byteAt(text, i+1); {
	case c == ',' && bracket == '[':
		return 1
	case c == ',' || c == '{':
		return 2
	case c == ':' && bracket != '{' && (!isWordByte(before) || behind != '/' && !isWordByte(behind)): // not in http://a
		return 2
	case c == '?' && mayEnd(behind):
		return 2
	case c == '[' || c == '-' && mayEnd(before) && mayEnd(behind):
		return 1
	}
	return 0
}

// entryLine is how a line begins.
type entryLine struct {
	dashed, keyed bool // with "- ", with "key: "
	column        int  // of the key, or else of the last dash
	value         int  // what comes then; the length of the line if nothing does
}

func entryOf(line []byte) entryLine {
	var e entryLine
	skip := func(i int) int { return len(line) - len(bytes.TrimLeft(line[i:], " ")) }
	e.value = skip(0)
	for byteAt(line, e.value) == '-' && byteAt(line, e.value+1) == ' ' {
		e.dashed, e.column = true, e.value
		e.value = skip(e.value + 1)
	}
	end := e.value
	for end < len(line) && (isWordByte(line[end]) || strings.IndexByte("._/-", line[end]) >= 0) {
		end++
	}
	if end > e.value && byteAt(line, end) == ':' && byteAt(line, end+1) == ' ' {
		e.keyed, e.column = true, e.value
		e.value = skip(end + 1)
	}
	return e
}

// endsHeader reports whether nothing but the signs of a block scalar, and perhaps a
// comment, follows its first character.
func endsHeader(rest []byte, signs string) bool {
	text := bytes.TrimLeft(bytes.TrimLeft(rest, signs), " \t")
	return len(text) == 0 || text[0] == '#'
}

// inWord reports a quote that is a part of a word.
func inWord(line []byte, i int) bool {
	return !isSpace(byteAt(line, i-1)) && strings.IndexByte("[{,:]}\"'", line[i-1]) < 0
}

// mayOpen reports whether a quote behind this text is one that begins a value.
func mayOpen(before []byte) bool {
	text := bytes.TrimRight(before, " \t")
	switch byteAt(text, len(text)-1) {
	case '[', '{', ',':
		return true
	case ':':
		return len(text) < len(before)
	}
	return false
}

// closing is the index of the quote that ends the string which text begins with,
// -1 if none does.
func closing(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && text[0] == '"':
			i++
		case text[i] != text[0]:
		case text[0] == '\'' && byteAt(text, i+1) == '\'':
			i++
		default:
			return i
		}
	}
	return -1
}

// byteAt is a character of a line, 0 before and behind it.
func byteAt(text []byte, i int) byte {
	if i < 0 || i >= len(text) {
		return 0
	}
	return text[i]
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == 0 || c == '\r' || c == '\n' }

// mayEnd reports a byte that may be, or be a part of, a space or a break.
func mayEnd(c byte) bool { return isSpace(c) || c >= utf8.RuneSelf }

func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
