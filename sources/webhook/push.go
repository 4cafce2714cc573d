package webhook

import (
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// push is what is read of a git server's message.
type push struct {
	// concerns is false for events that say nothing about a branch or a tag.
	concerns bool
	urls     []string // of the repository; none in a generic push
	ref      string   // in full, like refs/heads/main; "" when it is not told
	commits  []string
}

// eventHeaders name the kind of a message, by server. Forgejo and Gitea send
// GitHub's header too.
func eventHeaders() []string {
	return []string{"X-Forgejo-Event", "X-Gitea-Event", "X-Gogs-Event", "X-GitHub-Event", "X-Gitlab-Event", "X-Event-Key"}
}

// repository has the addresses that GitHub, Gitea, Forgejo and GitLab name.
type repository struct {
	CloneURL   string `json:"clone_url"`
	SSHURL     string `json:"ssh_url"`
	GitURL     string `json:"git_url"`
	HTMLURL    string `json:"html_url"`
	GitHTTPURL string `json:"git_http_url"`
	GitSSHURL  string `json:"git_ssh_url"`
	WebURL     string `json:"web_url"`
	URL        string `json:"url"`
	Homepage   string `json:"homepage"`
}

func (r repository) urls() []string {
	all := []string{r.CloneURL, r.SSHURL, r.GitURL, r.HTMLURL, r.GitHTTPURL, r.GitSSHURL, r.WebURL, r.URL, r.Homepage}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

// readPush reads a message. One that is not understood concerns nothing; a
// request of no git server concerns everything, or the repository that its JSON
// names.
func readPush(h http.Header, body []byte) push {
	var message struct {
		Kind       string     `json:"object_kind"`
		Ref        string     `json:"ref"`
		After      string     `json:"after"`
		Repository repository `json:"repository"`
		Project    repository `json:"project"`
		Commits    []struct {
			ID string `json:"id"`
		} `json:"commits"`
	}
	readable := json.Unmarshal(payload(h, body), &message) == nil
	p := push{urls: append(message.Repository.urls(), message.Project.urls()...), ref: message.Ref, commits: []string{message.After}}
	for _, c := range message.Commits {
		p.commits = append(p.commits, c.ID)
	}
	switch event := eventOf(h); event {
	case "":
		if !readable {
			p = push{}
		}
		p.concerns = true
	case "push", "Push Hook", "Tag Push Hook":
		p.concerns = readable && len(p.urls) > 0 && p.ref != ""
	case "System Hook":
		p.concerns = readable && len(p.urls) > 0 && p.ref != "" && slices.Contains([]string{"push", "tag_push"}, message.Kind)
	case "repo:push": // Bitbucket says what changed in another shape; look in any case
		p.ref, p.concerns = "", readable && len(p.urls) > 0
	}
	return p
}

func eventOf(h http.Header) string {
	for _, name := range eventHeaders() {
		if event := h.Get(name); event != "" {
			return event
		}
	}
	return ""
}

// payload is the JSON of the body, which GitHub can send as a form too.
func payload(h http.Header, body []byte) []byte {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return body
	}
	form, err := url.ParseQuery(string(body))
	if err != nil || !form.Has("payload") {
		return body
	}
	return []byte(form.Get("payload"))
}

// selects returns the names of the sources that should look.
func (p push) selects(targets []Target) []string {
	var names []string
	for _, t := range targets {
		if p.matches(t) {
			names = append(names, t.Name)
		}
	}
	return names
}

func (p push) matches(t Target) bool {
	switch {
	case !p.concerns:
		return false
	case len(p.urls) == 0:
		return true
	case !t.Git:
		return false
	}
	return slices.ContainsFunc(p.urls, func(u string) bool { return address(u) == address(t.URL) }) && p.moves(t.Ref)
}

// moves reports whether the push may change what the ref stands for.
func (p push) moves(ref string) bool {
	short := shortRef(ref)
	if ref == "" || p.ref == "" || short == shortRef(p.ref) {
		return true
	}
	return isCommit(short) && slices.ContainsFunc(p.commits, func(id string) bool { return strings.HasPrefix(id, strings.ToLower(short)) })
}

func shortRef(ref string) string {
	return strings.TrimPrefix(strings.TrimPrefix(ref, "refs/heads/"), "refs/tags/")
}

func isCommit(ref string) bool {
	return len(ref) >= 7 && strings.Trim(strings.ToLower(ref), "0123456789abcdef") == ""
}

// address is host and path of a repository, whichever way it is reached: ports,
// users, letter case and the ending .git make no difference.
func address(text string) string {
	host, path := "", text
	if u, err := url.Parse(text); err == nil && strings.Contains(text, "://") {
		host, path = u.Hostname(), u.Path
	} else if before, after, ok := strings.Cut(text, ":"); ok && !strings.Contains(before, "/") {
		host, path = before[strings.LastIndex(before, "@")+1:], after
	}
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	return strings.ToLower(host + "/" + path)
}
