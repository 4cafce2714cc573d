package cli

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// WaitCmd is `podstead wait`.
type WaitCmd struct {
	connection
	namespaced
	For     string        `required:"" placeholder:"ready|running|gone|revision=REV" help:"What to wait for. kubectl's condition=Ready and delete are ready and gone."`
	All     bool          `help:"All pods of the namespace; with revision=, all sources."`
	Timeout time.Duration `default:"30s" placeholder:"30s" help:"How long to wait; 0 looks once, a negative time is a week."`
	Names   []string      `arg:"" optional:"" name:"POD|SOURCE" help:"Pods (web, web-n1, pod/web) and sources (source/fleet; with revision= also fleet)."`
}

// week is what a negative timeout means to kubectl.
const week = 7 * 24 * time.Hour

// Help says what each condition is.
func (*WaitCmd) Help() string {
	return `ready: a pod is Ready, in its newest version; a source's newest state is in force.
running: every container of a pod runs, ready or not.
gone: nothing of the pod is left; a source is configured no more and nothing of it is left.
revision=REV: a source's state of that revision is in force. The first digits of a commit will do, and so does the revision of one of a folder's files.

A pod or source that is not there yet is waited for. After a change wait for its revision first: until it is known, the pod before it is the newest. What can never come ends the wait at once: a pod that has run to its end will not be ready. With --all, pods that have succeeded count as done. Exit: 0 all has come, 1 not, with the reason.`
}

// Examples are shown below the help.
func (*WaitCmd) Examples() []Example {
	return []Example{
		{"until a pod is ready", "podstead wait --for=ready web --timeout 1m"},
		{"until all are, in every namespace", "podstead wait --for=ready --all -A"},
		{"as kubectl has it", "podstead wait --for=condition=Ready pod/web"},
		{"whether a source is well just now", "podstead wait --for=ready source/file --timeout 0"},
	}
}

// condition is what is waited for: ready, running, gone, or a revision.
type condition struct {
	word     string
	revision string
}

func parseCondition(text string) (condition, error) {
	word, value, _ := strings.Cut(text, "=")
	switch word = strings.ToLower(word); {
	case word == "condition" && (strings.EqualFold(value, "ready") || strings.EqualFold(value, "ready=true")):
		return condition{word: "ready"}, nil
	case word == "delete" && value == "":
		return condition{word: "gone"}, nil
	case word == "revision" && value != "":
		return condition{word: word, revision: value}, nil
	case value == "" && (word == "ready" || word == "running" || word == "gone"):
		return condition{word: word}, nil
	}
	return condition{}, fmt.Errorf("--for=%s is not one of ready, running, gone, revision=REV", text)
}

// Run waits for the sources first, then for the pods, all within one timeout.
func (c *WaitCmd) Run(ctx context.Context, t Terminal) error {
	pods, sources, err := c.goals()
	if err != nil {
		return &Exit{Code: ExitConfig, Err: err}
	}
	limit := c.Timeout
	if limit < 0 {
		limit = week
	}
	w := waiting{client: c.client(t), goals: sources, limit: limit, done: "condition met"}
	began := time.Now()
	if len(sources) > 0 {
		if err := w.sources(ctx, t); err != nil || len(pods) == 0 {
			return err
		}
		if limit > 0 {
			w.limit = max(limit-time.Since(began), time.Millisecond)
		}
	}
	w.goals = pods
	return w.pods(ctx, t)
}

// goals are what the arguments ask for.
func (c *WaitCmd) goals() (pods, sources []goal, err error) {
	cond, err := parseCondition(c.For)
	if err != nil {
		return nil, nil, err
	}
	kind := "pod"
	if cond.word == "revision" {
		kind = "source"
	}
	names := c.Names
	if len(names) > 0 && (len(names) > 1 || c.All) { // kubectl's `wait pod web`
		if k := kindOf(names[0]); k != "" {
			kind, names = k, names[1:]
		}
	}
	switch {
	case c.All && len(names) > 0:
		return nil, nil, fmt.Errorf("--all takes no names")
	case !c.All && len(names) == 0:
		return nil, nil, fmt.Errorf("name what to wait for, or say --all; `podstead get pods` and `podstead get sources` list what there is")
	case c.All:
		names = []string{""}
	}
	for _, name := range names {
		k, bare := kind, name
		if before, after, ok := strings.Cut(name, "/"); ok {
			if k, bare = kindOf(before), after; k == "" || bare == "" {
				return nil, nil, fmt.Errorf("%q: podstead knows pods (pod/NAME) and sources (source/NAME)", name)
			}
		}
		switch {
		case k == "source" && cond.word == "running":
			return nil, nil, fmt.Errorf("a source does not run: say --for=ready, --for=gone or --for=revision=REV for %s", name)
		case k == "pod" && cond.word == "revision":
			return nil, nil, fmt.Errorf("a revision is a source's: say source/NAME in place of %s", name)
		case k == "source":
			sources = append(sources, sourceGoal(cond, bare))
		default:
			pods = append(pods, podGoal(cond, c.scope(), bare))
		}
	}
	return pods, sources, nil
}

// kindOf is the kind that a word stands for; "" for none.
func kindOf(word string) string {
	switch word {
	case "pod", "pods", "po":
		return "pod"
	case "source", "sources", "src":
		return "source"
	}
	return ""
}
