package rig

import (
	"fmt"
	"os"
	"strings"
)

// PutTable replaces what stands in a Markdown file between the lines
// <!-- NAME: begin --> and <!-- NAME: end -->.
func PutTable(file, name, text string) error {
	begin, end := fmt.Sprintf("<!-- %s: begin -->", name), fmt.Sprintf("<!-- %s: end -->", name)
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, ok1 := strings.Cut(string(old), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		return fmt.Errorf("%s has no table to replace: it needs the lines %s and %s", file, begin, end)
	}
	return os.WriteFile(file, []byte(before+begin+"\n"+text+end+after), 0o644)
}
