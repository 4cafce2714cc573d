package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/survive.md names a test for each case. The tests are there.
func TestThisTableNamesTests(t *testing.T) {
	text, err := os.ReadFile("../../docs/survive.md")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile("`([a-z/0-9]+)`|(Test\\w+)")
	for row := range strings.Lines(string(text)) {
		if !strings.HasPrefix(row, "|") {
			continue
		}
		cells := strings.Split(strings.Trim(row, "|\n "), "|")
		folder, known := "", ""
		for _, word := range names.FindAllStringSubmatch(cells[len(cells)-1], -1) {
			switch {
			case word[1] != "":
				folder = word[1]
				known = testsOf(t, folder)
			case !strings.Contains(known, "func "+word[2]+"("):
				t.Errorf("%s has no %s", folder, word[2])
			}
		}
	}
}

// testsOf is the text of a package's tests, tagged ones too.
func testsOf(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob("../../" + folder + "/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}
