package sources

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/podstead/podstead/manifests"
)

// The defaults of an HTTP source.
const (
	// DefaultHTTPInterval is the kubelet's httpCheckFrequency.
	DefaultHTTPInterval = 20 * time.Second
	// DefaultHTTPTimeout bounds one look, redirects included.
	DefaultHTTPTimeout = time.Minute
	// DefaultHTTPIdleTimeout bounds the time in which no byte arrives.
	DefaultHTTPIdleTimeout = 10 * time.Second
	// DefaultHTTPBytes bounds a body.
	DefaultHTTPBytes = 8 << 20
)

// HTTPConfig is what an HTTP source needs. What it names files for is read from
// them at each look, so that a renewed token or certificate is used at once.
type HTTPConfig struct {
	// Name is unique among the sources.
	Name string
	// URL is what is asked, http or https. User and password in it are sent as
	// basic authentication. They and the query are never shown.
	URL string
	// Headers are sent to the URL's own host, after redirects too. They replace
	// the source's own Accept and User-Agent; Host is the host that is asked for.
	Headers http.Header
	// Interval is the time between two looks, give or take a tenth; 0 for
	// DefaultHTTPInterval. After errors it is the back-off's.
	Interval time.Duration
	// Timeout bounds one look; 0 for DefaultHTTPTimeout.
	Timeout time.Duration
	// IdleTimeout ends a look in which no byte arrives for so long; 0 for
	// DefaultHTTPIdleTimeout.
	IdleTimeout time.Duration
	// MaxBytes bounds the body as it is after decompression; 0 for DefaultHTTPBytes.
	MaxBytes int64

	// CAFile holds the certificates to trust in place of the system's.
	CAFile string
	// CertFile and KeyFile are shown to a server that asks for a certificate.
	CertFile, KeyFile string
	// User and PasswordFile are sent as basic authentication.
	User, PasswordFile string
	// TokenFile is sent as a bearer token.
	TokenFile string
	// Proxy is the URL of a proxy, "" for what HTTP_PROXY, HTTPS_PROXY and
	// NO_PROXY say.
	Proxy string
	// UserAgent names the client: podstead/<version>.
	UserAgent string

	Node manifests.Node
	// Dir keeps the last good set: root-dir/sources/<name>. "" keeps none.
	Dir string
	// UnsupportedKinds is UnsupportedWarn when empty.
	UnsupportedKinds UnsupportedKinds
	// Warn makes unknown fields warnings instead of faults.
	Warn bool
	// Policy is what pods may ask for; "" for PolicyEdge.
	Policy Policy
	// NodePaths are those that no pod may mount; nil for none.
	NodePaths *NodePaths
	// MaxRemoval is how much of the set may vanish at once without being asked
	// for, as a percentage: "50%" when empty, "100%" for any.
	MaxRemoval string
	Logger     *slog.Logger
}

// HTTP is a Source that asks a URL for manifests.
//
// The body is what fails as a whole. Anything but an answer 200 with a whole
// body of manifests changes nothing: no server, a redirect to nowhere, another
// status, an HTML page, an empty or cut body. An explicit empty List is a set.
type HTTP struct {
	*polled
	place *httpPlace
}

// NewHTTP returns an HTTP source that does nothing until Run. An error lists all
// that is wrong with the configuration; files that it names need not exist yet.
func NewHTTP(cfg HTTPConfig) (*HTTP, error) {
	settings, err := cfg.check()
	if err != nil {
		return nil, err
	}
	shown := shownURL(settings.url)
	log := cfg.Logger.With("source", cfg.Name)
	place := newHTTPPlace(settings)
	return &HTTP{place: place, polled: newPolled(polledConfig{
		name: cfg.Name, kind: KindHTTP, place: shown, unit: shown, body: true,
		reader:   settings.reader(),
		interval: settings.Interval, limit: settings.Timeout,
		dir: cfg.Dir, maxRemoval: settings.removal, log: log,
	}, place)}, nil
}

// Run implements Source. Beside what every polled source owns it keeps a
// connection to the server, and closes it before it returns.
func (h *HTTP) Run(ctx context.Context, out chan<- Snapshot) error {
	defer h.place.close()
	return h.polled.Run(ctx, out)
}

// httpSettings is a configuration that was checked: defaults filled in, URLs and
// percentages read.
type httpSettings struct {
	HTTPConfig
	url     *url.URL
	proxy   *url.URL // nil for what the environment says
	removal int
}

// reader takes a body as large as the source's limit. Their values are bounded more
// tightly than their text.
func (s *httpSettings) reader() unitReader {
	limits := manifests.DefaultLimits()
	limits.Nodes = max(limits.Nodes, int(s.MaxBytes/bytesPerValue))
	limits.Bytes = s.MaxBytes
	return unitReader{
		source: s.Name, kind: KindHTTP, node: s.Node, limits: limits,
		unsupported: s.UnsupportedKinds, warn: s.Warn, policy: s.Policy, paths: s.NodePaths,
	}
}

// bytesPerValue is how much text a body of the limit's size has at least for each
// value and key. At that, no body needs more than ten times its limit of memory,
// and a thousand pods fit into 8 MiB.
const bytesPerValue = 48
