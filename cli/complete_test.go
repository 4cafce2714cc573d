package cli

import (
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/api"
)

// known is what the agent of these tests knows.
func known(asked *connection) func(connection) looker {
	web, db, log := onNode("default", "web"), onNode("default", "db"), onNode("data", "log")
	web.Spec.Containers = []v1.Container{{Name: "main", Ports: []v1.ContainerPort{{Name: "http"}}}, {Name: "side"}}
	web.Spec.InitContainers = []v1.Container{{Name: "setup"}}
	db.Spec.Containers = []v1.Container{{Name: "db"}}
	return func(conn connection) looker {
		*asked = conn
		return looker{
			pods:    func() []v1.Pod { return []v1.Pod{web, db, log} },
			sources: func() []api.Source { return []api.Source{{Name: "file"}, {Name: "fleet"}} },
		}
	}
}

func TestWordsAreCompleted(t *testing.T) {
	cases := []struct{ name, typed, want string }{
		{"commands", "", "get describe logs sync cp completion"},
		{"a command", "de", "describe"},
		{"hidden ones do not show", "__", ""},
		{"kinds", "get ", "pods sources events"},
		{"pods", "get pods ", "web db"},
		{"by another word for the kind", "get po w", "web"},
		{"kind and name in one word", "get po/w", "po/web"},
		{"of a namespace", "get pods -n data ", "log"},
		{"of all", "get pods -A ", "web db log"},
		{"a flag before the command", "-n data logs ", "log"},
		{"a flag before a kind", "-n data get so", "sources"},
		{"not twice", "get pods web ", "db"},
		{"flags", "get pods --no-", "--no-headers"},
		{"a flag that was given does not come again", "logs --tail=3 --ta", ""},
		{"forms", "get pods -o js", "json jsonpath= jsonpath-file= jsonpath-as-json="},
		{"forms in one word", "get pods --output=y", "--output=yaml"},
		{"a file in a form", "get pods -o jsonpath-file=", files},
		{"an enum", "get pods --color ", "auto always never"},
		{"an enum of an argument", "completion ", "bash zsh fish"},
		{"containers", "logs web -c ", "main setup side"},
		{"containers of any", "logs -c ", "db main setup side"},
		{"namespaces", "get pods -n ", "data default"},
		{"sources", "sync f", "file fleet"},
		{"pods of events", "get events d", "db"},
		{"pods or files", "cp w", "web: " + files},
		{"files", "get pods --root-dir ", files},
		{"nothing more", "sync file ", ""},
		{"an unknown flag", "get pods --nope=", ""},
		{"after --", "get pods -- w", "web"},
		{"a flag and its value in one", "logs -ndata ", "log"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var asked connection
			var got []string
			for _, a := range complete(newGrammar(t).Model.Node, strings.Split(c.typed, " "), known(&asked)) {
				got = append(got, a.word)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestTheAgentThatTheLineNamesIsAsked(t *testing.T) {
	t.Setenv("PODSTEAD_SOCKET", "/run/s")
	var asked connection
	complete(newGrammar(t).Model.Node, []string{"--root-dir", "/srv/p", "get", "pods", ""}, known(&asked))
	if asked != (connection{RootDir: "/srv/p", Socket: "/run/s"}) {
		t.Errorf("%+v", asked)
	}
}

func TestAnswersSayWhatTheyAre(t *testing.T) {
	var asked connection
	all := complete(newGrammar(t).Model.Node, []string{"get", "s"}, known(&asked))
	want := []answer{{"sources", "Where manifests come from, their revision, and what is wrong with them"}}
	if !slices.Equal(all, want) {
		t.Errorf("%q, want %q", all, want)
	}
}

func TestWordsOfOtherProgramsAreAnsweredWithOurs(t *testing.T) {
	cases := []struct{ name, args, want string }{
		{"apply", "apply -f web.yaml", "copy the file into the folder of a source"},
		{"delete without a name", "delete pod", "delete the file that `podstead describe pod NAME` names"},
		{"scale", "scale deploy/web --replicas 3", "there is no `podstead scale`: a Pod is one pod"},
		{"docker's ps", "ps", "`podstead get pods -A`"},
		{"nodes", "get nodes", "`podstead describe node`"},
		{"deployments", "get deploy web", "podstead runs Pods only"},
		{"a thing in one word", "describe svc/web", `"svc" is nothing to describe here: there are no Services`},
		{"several kinds", "get po,ev", "one kind at a time"},
		{"unlike anything", "frobnicate", ""},
		{"a mistyped kind", "get pdos", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := Instead(t.Context(), newGrammar(t).Model.Node, strings.Fields(c.args))
			if !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
