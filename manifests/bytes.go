package manifests

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// cleanText refuses what no manifest may hold, whatever its syntax, and returns
// the text without a byte order mark. YAML parsers and JSON parsers differ in
// what they let through; a manifest is held to the stricter of the two.
func cleanText(unit string, data []byte, lim Limits) ([]byte, *Fault) {
	if int64(len(data)) > lim.Bytes {
		return nil, &Fault{Place: Place{Unit: unit}, Message: fmt.Sprintf("larger than the limit of %d bytes", lim.Bytes)}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	for i := 0; i < len(data); {
		r, size := rune(data[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(data[i:])
		}
		if problem := badRune(r, size); problem != "" {
			line, column := position(data, i)
			return nil, &Fault{Place: Place{Unit: unit, Line: line, Column: column}, Message: problem}
		}
		i += size
	}
	return data, nil
}

func badRune(r rune, size int) string {
	switch {
	case r == utf8.RuneError && size == 1:
		return "not UTF-8 text"
	case r == 0:
		return "NUL character: this is not a text file, or only half written"
	case r < ' ' && r != '\t' && r != '\n' && r != '\r', r >= 0x7f && r < 0xa0 && r != 0x85, r == 0xfffe, r == 0xffff:
		return fmt.Sprintf("control character U+%04X", r)
	}
	return ""
}

// position is the line and column, in characters, of a byte offset.
func position(data []byte, offset int) (line, column int) {
	before := data[:offset]
	line = 1 + bytes.Count(before, []byte("\n"))
	column = 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return line, column
}
