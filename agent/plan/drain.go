package plan

// Drain decides how a pod comes to rest that is to run again later: as Terminate
// without reclaiming, with message for people. Its signals restart: what they end
// is made again once Sync is asked instead, whatever the restart policy. A pod
// that has run to its end by itself has finished, as in Sync. The gate, images,
// failures and objects of the input are of no interest.
func Drain(in Input, message string) Decision {
	in.History, _, _ = in.History.Observe(in.Pod, in.Observed, in.Now)
	p := &planner{Input: in, loss: sandboxLoss(in)}
	if p.end = p.finish(); p.end != nil {
		return p.decision()
	}
	d := Terminate(TerminateInput{
		Pod: in.Pod, Observed: in.Observed, Stops: in.Stops, Grace: p.grace(),
		Reason: ReasonDrained, Message: message, Now: in.Now,
	})
	for _, step := range d.Steps {
		for i, a := range step {
			if newest, ok := in.Observed.Newest(a.Container); a.Verb == Signal && ok {
				step[i].Attempt = newest.Attempt + 1
			}
		}
	}
	return d
}
