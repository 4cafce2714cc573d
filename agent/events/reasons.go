package events

// Reasons of events, as the kubelet words them.
const (
	// Of containers.
	ContainerCreated = "Created"
	ContainerStarted = "Started"
	ContainerKilling = "Killing"
	ContainerFailed  = "Failed"  // could not be created or started
	ContainerBackOff = "BackOff" // waits before its next restart

	// Of images.
	ImagePulling       = "Pulling"
	ImagePulled        = "Pulled"
	ImageFailed        = "Failed"
	ImageBackOff       = "BackOff"
	ImageNeverPull     = "ErrImageNeverPull"
	ImageInspectFailed = "InspectFailed"

	// Of pods.
	SandboxChanged         = "SandboxChanged"
	FailedCreatePodSandBox = "FailedCreatePodSandBox"
	FailedMount            = "FailedMount"
	FailedSync             = "FailedSync"
	FailedKillPod          = "FailedKillPod"
	FailedValidation       = "FailedValidation"
	ExceededGracePeriod    = "ExceededGracePeriod"

	// Of pods that refer to objects.
	FailedToRetrieveImagePullSecret = "FailedToRetrieveImagePullSecret"
	// ObjectsChanged is podstead's: a container is restarted because of what it reads.
	ObjectsChanged = "ObjectsChanged"
	// RestartAsked is podstead's: somebody asked for new instances of a pod's containers.
	RestartAsked = "RestartAsked"
	// Of sources; the kubelet has none.
	RemovalHeld     = "RemovalHeld"     // a newer state removes too much
	SourceFault     = "SourceFault"     // the place or a unit of it is at fault
	SourceRecovered = "SourceRecovered" // and is no longer
	SourceSuspended = "Suspended"       // it is not looked at any more
	SourceResumed   = "Resumed"         // and is again
	// Of the node.
	NodeStarting = "Starting"
	// NodeDrained and NodeResumed are podstead's.
	NodeDrained = "Drained"
	NodeResumed = "Resumed"
	// NodeNameShared is podstead's: pods of another node of this name are on the engine.
	NodeNameShared = "NodeNameShared"
	// NodeLogsMissing is podstead's: log shippers do not find what containers write.
	NodeLogsMissing = "NodeLogsMissing"
	// ConfigurationTaken and -Fault are podstead's: its file was read again.
	ConfigurationTaken = "ConfigurationTaken"
	ConfigurationFault = "ConfigurationFault"
	// SourcesGone is told before sources that are configured no more are given up.
	SourcesGone       = "SourcesGone"
	ContainerGCFailed = "ContainerGCFailed"
	ImageGCFailed     = "ImageGCFailed"
)
