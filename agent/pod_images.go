package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/events"
	"github.com/podstead/podstead/agent/plan"
	"github.com/podstead/podstead/runtime"
)

// Delays between failed pulls of an image for a pod (kubelet: image back-off).
const (
	imageRetry    = 10 * time.Second
	imageRetryMax = 300 * time.Second
)

// podImages is what one pod knows of its containers' images. It belongs to the
// pod's worker.
type podImages struct {
	worker *worker
	states map[string]*imageState // by container
}

// imageState is how far the image for one attempt of one container is. As in
// the kubelet, every attempt asks anew: policy Always means each start.
type imageState struct {
	attempt int
	ready   *runtime.Image
	ticket  *ticket
	asked   plan.Moment
	failed  error  // of the newest try
	logins  string // which the newest try had to offer; as view.loginsID
	retry   plan.Moment
	delay   time.Duration
}

func newPodImages(w *worker) podImages { return podImages{worker: w, states: map[string]*imageState{}} }

// image is the resolved image of a container; zero before it is ready.
func (p podImages) image(container string) runtime.Image {
	if s := p.states[container]; s != nil && s.ready != nil {
		return *s.ready
	}
	return runtime.Image{}
}

// cancel gives up all pulls.
func (p podImages) cancel() {
	for _, s := range p.states {
		if s.ticket != nil {
			s.ticket.drop()
			s.ticket = nil
		}
	}
}

// due is when the next failed image may be tried again.
func (p podImages) due() (time.Duration, bool) {
	soonest, any := time.Duration(0), false
	for _, s := range p.states {
		if s.failed == nil || s.ready != nil || s.ticket != nil {
			continue
		}
		left := max(0, s.retry.Since-p.worker.now().Since)
		if p.mayTry(s) {
			left = 0
		}
		if !any || left < soonest {
			soonest, any = left, true
		}
	}
	return soonest, any
}

// resolve finds or asks for the image of the given attempt of a container. The
// error is only the engine's absence; all else is a reason to wait.
func (p podImages) resolve(ctx context.Context, container string, attempt int) (plan.Image, error) {
	s := p.states[container]
	if s == nil || s.attempt != attempt {
		next := &imageState{attempt: attempt}
		if s != nil {
			next.failed, next.retry, next.delay, next.logins = s.failed, s.retry, s.delay, s.logins
			if s.ticket != nil {
				s.ticket.drop()
			}
		}
		s = next
		p.states[container] = s
	}
	spec := findContainer(p.worker.record.Pod, container)
	if s.ready == nil && s.ticket == nil && p.mayTry(s) {
		if err := p.try(ctx, spec, s); err != nil {
			return plan.Image{}, err
		}
	}
	if s.ticket != nil && ctx.Err() == nil { // a pull that the agent's end cut off has not failed
		p.collect(spec, s)
	}
	return p.state(spec, s), nil
}

// mayTry: other logins than those that failed are tried at once.
func (p podImages) mayTry(s *imageState) bool {
	return s.failed == nil || s.retry.Since <= p.worker.now().Since || s.logins != p.worker.view.loginsID
}

// try looks for the image on the engine and asks for a pull where the policy
// says so.
func (p podImages) try(ctx context.Context, c *v1.Container, s *imageState) error {
	if logins := p.worker.view.loginsID; s.logins != logins {
		s.logins, s.delay = logins, 0
	}
	if c.ImagePullPolicy != v1.PullAlways {
		image, err := p.worker.agent.deps.Runtime.Image(ctx, c.Image)
		switch {
		case err == nil:
			s.ready, s.failed, s.delay = &image, nil, 0
			p.worker.event(c.Name, v1.EventTypeNormal, events.ImagePulled,
				fmt.Sprintf("Container image %q already present on machine", c.Image))
			return nil
		case errors.Is(err, runtime.ErrUnavailable), ctx.Err() != nil:
			return err
		case !errors.Is(err, runtime.ErrNotFound):
			p.failed(c, s, err)
			return nil
		case c.ImagePullPolicy == v1.PullNever:
			p.failed(c, s, errNeverPull)
			return nil
		}
	}
	p.worker.tellPullSecrets()
	ticket, err := p.worker.agent.puller.want(pullKey{c.Image, s.logins}, p.worker.view.logins, func() { p.worker.mail.ring(nil) })
	if err != nil {
		p.failed(c, s, err)
		return nil
	}
	s.ticket, s.asked = ticket, p.worker.now()
	p.worker.event(c.Name, v1.EventTypeNormal, events.ImagePulling, fmt.Sprintf("Pulling image %q", c.Image))
	return nil
}

// errNeverPull is an absent image that may not be pulled.
var errNeverPull = errors.New("image is not present with pull policy of Never")

// collect takes the outcome of a pull, if there is one.
func (p podImages) collect(c *v1.Container, s *imageState) {
	image, took, done, err := s.ticket.result()
	if !done {
		return
	}
	s.ticket.drop()
	s.ticket = nil
	if err != nil {
		p.failed(c, s, err)
		return
	}
	s.ready, s.failed, s.delay = &image, nil, 0
	waited := p.worker.now().After(s.asked, 24*time.Hour)
	p.worker.event(c.Name, v1.EventTypeNormal, events.ImagePulled,
		fmt.Sprintf("Successfully pulled image %q in %s (%s including waiting). Image size: %d bytes.",
			c.Image, took.Round(time.Millisecond), waited.Round(time.Millisecond), image.Size))
}

func (p podImages) failed(c *v1.Container, s *imageState, err error) {
	s.failed = err
	s.delay = min(max(2*s.delay, imageRetry), imageRetryMax)
	s.retry = p.worker.now().Add(s.delay)
	w := p.worker
	reason, message := events.ImageFailed, fmt.Sprintf("Failed to pull image %q: %v", c.Image, err)
	if errors.Is(err, errNeverPull) {
		reason, message = events.ImageNeverPull, fmt.Sprintf("Container image %q is not present with pull policy of Never", c.Image)
	}
	w.event(c.Name, v1.EventTypeWarning, reason, message)
}

// state says how far the image is, in the kubelet's words: the first error of a
// try by its own reason, then back-off until the next.
func (p podImages) state(c *v1.Container, s *imageState) plan.Image {
	switch {
	case s.ready != nil:
		return plan.Image{Ready: true}
	case s.ticket != nil:
		return plan.Image{Waiting: plan.Waiting{Reason: "ContainerCreating", Message: s.ticket.state()}}
	}
	reason := pullReason(s.failed)
	message := s.failed.Error()
	if s.delay > imageRetry && reason == "ErrImagePull" {
		reason = "ImagePullBackOff"
		message = fmt.Sprintf("Back-off pulling image %q: %s", c.Image, message)
	}
	return plan.Image{Waiting: plan.Waiting{Reason: reason, Message: message}}
}

func pullReason(err error) string {
	switch {
	case errors.Is(err, errNeverPull):
		return "ErrImageNeverPull"
	case errors.Is(err, runtime.ErrInvalidImageName):
		return "InvalidImageName"
	case errors.Is(err, runtime.ErrRegistryUnavailable):
		return "RegistryUnavailable"
	}
	return "ErrImagePull"
}
