package cli

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// grammar is a command line like podstead's, for tests of what reads its model.
type grammar struct {
	Get        GetCmd        `cmd:"" help:"Show."`
	Describe   DescribeCmd   `cmd:"" help:"Describe."`
	Logs       LogsCmd       `cmd:"" help:"Log."`
	Sync       SyncCmd       `cmd:"" help:"Sync."`
	Cp         CopyCmd       `cmd:"" help:"Copy."`
	Completion CompletionCmd `cmd:"" help:"Scripts."`
	Complete   CompleteCmd   `cmd:"" name:"__complete" hidden:"" passthrough:""`
}

func newGrammar(t *testing.T) *kong.Kong {
	t.Helper()
	k, err := kong.New(&grammar{}, kong.Name("podstead"))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestWordsAreArrangedAsTheParserWantsThem(t *testing.T) {
	cases := []struct{ name, args, want string }{
		{"as it should be", "get pods -n data web", "get pods -n data web"},
		{"a flag before", "-n data get pods web", "get pods -n data web"},
		{"flags in between", "get -n data -o wide pods", "get pods -n data -o wide"},
		{"a value in the same word", "--namespace=data get po", "get pods --namespace=data"},
		{"flags that are switches", "get -A -w pods", "get pods -A -w"},
		{"kind and name in one word", "get pod/web pod/db", "get pods pod/web pod/db"},
		{"behind a flag", "describe -n data po/web", "describe pod -n data po/web"},
		{"a source", "get src/file -o yaml", "get sources src/file -o yaml"},
		{"not a kind", "get deploy/web", "get deploy/web"},
		{"an unknown command", "-n x apply -f web.yaml", "-n x apply -f web.yaml"},
		{"help", "--help get", "get --help"},
		{"nothing", "", ""},
		{"a kind alone", "-A get", "get -A"},
		{"a command that ends the search", "logs pod/web -c main", "logs pod/web -c main"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(Arrange(newGrammar(t).Model.Node, strings.Fields(c.args)), " "); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
