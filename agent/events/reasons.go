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

	// Of the node.
	NodeStarting      = "Starting"
	ContainerGCFailed = "ContainerGCFailed"
	ImageGCFailed     = "ImageGCFailed"
)
