package manifests

// verdict is what podstead does with a field that a manifest sets.
type verdict int

const (
	honoured verdict = iota + 1 // as Kubernetes has it, with all that is below it
	inside                      // the fields below it decide
	// idle fields are accepted and have no effect, because they have none on a
	// single node without an API server: nothing that the author can observe is
	// lost. Each says why.
	idle
	server  // set by an API server, as in the output of kubectl get; ignored with a Warning
	planned // refused until a later version brings it
	never   // refused: it cannot work here
)

// rule is the verdict on one field, and the exceptions from it.
type rule struct {
	verdict verdict
	// values are accepted besides the unset ones (null, "", false, []). They are
	// the field's default written out, or the part of its values that works.
	values []string
	// keys, where set, are the members that an honoured object may have.
	keys []string
	why  string // of never and idle
}

// fieldRules is the allow table: a field of a pod that is not in it is refused,
// so that one that a new version of Kubernetes brings is never dropped in
// silence. Lists are written []. The fields of a container stand under
// container, those of a projected volume's source under projection, those of an
// item of a volume under keyToPath.
var fieldRules = map[string]rule{
	"apiVersion": {verdict: honoured},
	"kind":       {verdict: honoured},
	"status":     {verdict: server},

	"metadata":                            {verdict: inside},
	"metadata.name":                       {verdict: honoured},
	"metadata.namespace":                  {verdict: honoured},
	"metadata.labels":                     {verdict: honoured},
	"metadata.annotations":                {verdict: honoured}, // annotations.go
	"metadata.uid":                        {verdict: server},   // identity comes from the content
	"metadata.generateName":               {verdict: server},
	"metadata.selfLink":                   {verdict: server},
	"metadata.resourceVersion":            {verdict: server},
	"metadata.generation":                 {verdict: server},
	"metadata.creationTimestamp":          {verdict: server},
	"metadata.deletionTimestamp":          {verdict: server},
	"metadata.deletionGracePeriodSeconds": {verdict: server},
	"metadata.ownerReferences":            {verdict: server},
	"metadata.finalizers":                 {verdict: server},
	"metadata.managedFields":              {verdict: server},

	"spec":                               {verdict: inside},
	"spec.restartPolicy":                 {verdict: honoured},
	"spec.terminationGracePeriodSeconds": {verdict: honoured},
	"spec.activeDeadlineSeconds":         {verdict: planned},
	"spec.hostNetwork":                   {verdict: honoured},
	"spec.hostPID":                       {verdict: honoured},
	"spec.hostIPC":                       {verdict: honoured},
	"spec.hostUsers":                     {verdict: planned, values: []string{"true"}},
	"spec.shareProcessNamespace":         {verdict: honoured},
	"spec.hostname":                      {verdict: honoured},
	"spec.subdomain":                     {verdict: planned},
	"spec.hostnameOverride":              {verdict: planned},
	"spec.setHostnameAsFQDN":             {verdict: planned},
	"spec.hostAliases":                   {verdict: planned},
	"spec.dnsPolicy":                     {verdict: planned, values: []string{"ClusterFirst"}},
	"spec.dnsConfig":                     {verdict: planned},
	"spec.imagePullSecrets":              {verdict: honoured},
	"spec.readinessGates":                {verdict: planned},
	"spec.runtimeClassName":              {verdict: planned},
	"spec.overhead":                      {verdict: planned},
	"spec.resources":                     {verdict: planned},
	"spec.resourceClaims":                {verdict: planned},
	"spec.ephemeralContainers":           {verdict: never, why: "only an API server adds them to a running pod"},
	"spec.os":                            {verdict: inside},
	"spec.os.name":                       {verdict: never, values: []string{"linux"}, why: "this is a Linux node"},

	"spec.nodeName":                 {verdict: honoured},
	"spec.nodeSelector":             {verdict: honoured},
	"spec.tolerations":              {verdict: honoured},
	"spec.affinity":                 {verdict: inside},
	"spec.affinity.nodeAffinity":    {verdict: honoured},
	"spec.affinity.podAffinity":     {verdict: planned},
	"spec.affinity.podAntiAffinity": {verdict: planned},
	"spec.schedulingGates":          {verdict: never, why: "a static pod is bound to its node from the start"},
	"spec.schedulingGroup":          {verdict: never, why: "there is no scheduler"},
	"spec.evictionResponders":       {verdict: never, why: "there is no eviction API"},

	"spec.schedulerName":             {verdict: idle, why: "no scheduler is asked: the manifest lies on its node"},
	"spec.topologySpreadConstraints": {verdict: idle, why: "one node is one domain, over which pods are always spread evenly"},
	"spec.priorityClassName":         {verdict: idle, why: "static pods are all critical: none is preempted or evicted"},
	"spec.priority":                  {verdict: idle, why: "as priorityClassName"},
	"spec.preemptionPolicy":          {verdict: idle, why: "nothing is preempted"},
	"spec.enableServiceLinks":        {verdict: idle, why: "there are no services whose variables could be set"},

	// No service account has an effect here; default is what a server writes in.
	"spec.serviceAccountName":           {verdict: never, values: []string{"default"}, why: "static pods have no service account"},
	"spec.serviceAccount":               {verdict: never, values: []string{"default"}, why: "static pods have no service account"},
	"spec.automountServiceAccountToken": {verdict: never, why: "static pods have no service account"},

	"spec.securityContext":                                 {verdict: inside},
	"spec.securityContext.runAsUser":                       {verdict: honoured},
	"spec.securityContext.runAsGroup":                      {verdict: honoured},
	"spec.securityContext.runAsNonRoot":                    {verdict: honoured},
	"spec.securityContext.supplementalGroups":              {verdict: honoured},
	"spec.securityContext.supplementalGroupsPolicy":        {verdict: planned, values: []string{"Merge"}},
	"spec.securityContext.fsGroup":                         {verdict: planned},
	"spec.securityContext.fsGroupChangePolicy":             {verdict: planned, values: []string{"Always"}},
	"spec.securityContext.sysctls":                         {verdict: planned},
	"spec.securityContext.seccompProfile":                  {verdict: inside},
	"spec.securityContext.seccompProfile.type":             {verdict: planned, values: []string{"RuntimeDefault", "Unconfined"}},
	"spec.securityContext.seccompProfile.localhostProfile": {verdict: planned},
	"spec.securityContext.appArmorProfile":                 {verdict: planned},
	"spec.securityContext.seLinuxOptions":                  {verdict: planned},
	"spec.securityContext.seLinuxChangePolicy":             {verdict: planned},
	"spec.securityContext.windowsOptions":                  {verdict: never, why: "this is a Linux node"},

	"spec.volumes":                         {verdict: inside},
	"spec.volumes[]":                       {verdict: inside},
	"spec.volumes[].name":                  {verdict: honoured},
	"spec.volumes[].emptyDir":              {verdict: inside},
	"spec.volumes[].emptyDir.medium":       {verdict: planned, values: []string{"Memory"}},
	"spec.volumes[].emptyDir.sizeLimit":    {verdict: honoured},
	"spec.volumes[].emptyDir.mode":         {verdict: planned},
	"spec.volumes[].hostPath":              {verdict: inside},
	"spec.volumes[].hostPath.path":         {verdict: honoured},
	"spec.volumes[].hostPath.type":         {verdict: planned, values: []string{"Directory", "DirectoryOrCreate", "File", "FileOrCreate"}},
	"spec.volumes[].downwardAPI":           {verdict: planned},
	"spec.volumes[].image":                 {verdict: planned},
	"spec.volumes[].persistentVolumeClaim": {verdict: planned},
	"spec.volumes[].ephemeral":             {verdict: never, why: noProvisioner},
	"spec.volumes[].csi":                   {verdict: never, why: noDriver},
	"spec.volumes[].flexVolume":            {verdict: never, why: noDriver},
	"spec.volumes[].nfs":                   {verdict: never, why: noDriver},
	"spec.volumes[].iscsi":                 {verdict: never, why: noDriver},
	"spec.volumes[].fc":                    {verdict: never, why: noDriver},
	"spec.volumes[].rbd":                   {verdict: never, why: noDriver},
	"spec.volumes[].cephfs":                {verdict: never, why: noDriver},
	"spec.volumes[].glusterfs":             {verdict: never, why: noDriver},
	"spec.volumes[].cinder":                {verdict: never, why: noDriver},
	"spec.volumes[].azureFile":             {verdict: never, why: noDriver},
	"spec.volumes[].azureDisk":             {verdict: never, why: noDriver},
	"spec.volumes[].gcePersistentDisk":     {verdict: never, why: noDriver},
	"spec.volumes[].awsElasticBlockStore":  {verdict: never, why: noDriver},
	"spec.volumes[].vsphereVolume":         {verdict: never, why: noDriver},
	"spec.volumes[].quobyte":               {verdict: never, why: noDriver},
	"spec.volumes[].photonPersistentDisk":  {verdict: never, why: noDriver},
	"spec.volumes[].portworxVolume":        {verdict: never, why: noDriver},
	"spec.volumes[].scaleIO":               {verdict: never, why: noDriver},
	"spec.volumes[].storageos":             {verdict: never, why: noDriver},
	"spec.volumes[].flocker":               {verdict: never, why: noDriver},
	"spec.volumes[].gitRepo":               {verdict: never, why: "Kubernetes has withdrawn it"},

	"spec.volumes[].configMap":             {verdict: inside},
	"spec.volumes[].configMap.name":        {verdict: honoured},
	"spec.volumes[].configMap.items":       {verdict: inside},
	"spec.volumes[].configMap.defaultMode": {verdict: honoured},
	"spec.volumes[].configMap.defaultUser": {verdict: planned},
	"spec.volumes[].configMap.optional":    {verdict: honoured},
	"spec.volumes[].secret":                {verdict: inside},
	"spec.volumes[].secret.secretName":     {verdict: honoured},
	"spec.volumes[].secret.items":          {verdict: inside},
	"spec.volumes[].secret.defaultMode":    {verdict: honoured},
	"spec.volumes[].secret.defaultUser":    {verdict: planned},
	"spec.volumes[].secret.optional":       {verdict: honoured},
	"spec.volumes[].projected":             {verdict: inside},
	"spec.volumes[].projected.defaultMode": {verdict: honoured},
	"spec.volumes[].projected.defaultUser": {verdict: planned},
	"spec.volumes[].projected.sources":     {verdict: inside},
	"projection":                           {verdict: inside},
	"keyToPath":                            {verdict: inside},
	"keyToPath.key":                        {verdict: honoured},
	"keyToPath.path":                       {verdict: honoured},
	"keyToPath.mode":                       {verdict: honoured},
	"keyToPath.user":                       {verdict: planned},
	"projection.configMap":                 {verdict: inside},
	"projection.configMap.name":            {verdict: honoured},
	"projection.configMap.items":           {verdict: inside},
	"projection.configMap.optional":        {verdict: honoured},
	"projection.secret":                    {verdict: inside},
	"projection.secret.name":               {verdict: honoured},
	"projection.secret.items":              {verdict: inside},
	"projection.secret.optional":           {verdict: honoured},
	"projection.downwardAPI":               {verdict: planned},
	"projection.serviceAccountToken":       {verdict: never, why: "static pods have no service account"},
	"projection.clusterTrustBundle":        {verdict: never, why: "there is no API server that holds trust bundles; put the certificates into a ConfigMap"},
	"projection.podCertificate":            {verdict: never, why: "nothing signs certificates here"},

	"spec.containers":     {verdict: inside},
	"spec.initContainers": {verdict: inside},

	"container":                                  {verdict: inside},
	"container.name":                             {verdict: honoured},
	"container.image":                            {verdict: honoured},
	"container.imagePullPolicy":                  {verdict: honoured},
	"container.command":                          {verdict: honoured},
	"container.args":                             {verdict: honoured},
	"container.workingDir":                       {verdict: honoured},
	"container.ports":                            {verdict: honoured},
	"container.env":                              {verdict: inside},
	"container.env[]":                            {verdict: inside},
	"container.env[].name":                       {verdict: honoured},
	"container.env[].value":                      {verdict: honoured},
	"container.env[].valueFrom":                  {verdict: inside},
	"container.env[].valueFrom.configMapKeyRef":  {verdict: honoured},
	"container.env[].valueFrom.secretKeyRef":     {verdict: honoured},
	"container.env[].valueFrom.fieldRef":         {verdict: planned},
	"container.env[].valueFrom.resourceFieldRef": {verdict: planned},
	"container.env[].valueFrom.fileKeyRef":       {verdict: planned},
	"container.envFrom":                          {verdict: inside},
	"container.envFrom[]":                        {verdict: inside},
	"container.envFrom[].prefix":                 {verdict: honoured},
	"container.envFrom[].configMapRef":           {verdict: honoured},
	"container.envFrom[].secretRef":              {verdict: honoured},
	"container.resources":                        {verdict: inside},
	"container.resources.limits":                 {verdict: honoured, keys: []string{"cpu", "memory"}},
	"container.resources.requests":               {verdict: honoured, keys: []string{"cpu", "memory"}},
	"container.resources.claims":                 {verdict: planned},
	"container.resizePolicy":                     {verdict: idle, why: "static pods are replaced, never resized in place"},
	"container.restartPolicy":                    {verdict: planned},
	"container.restartPolicyRules":               {verdict: planned},
	"container.terminationMessagePath":           {verdict: honoured},
	"container.terminationMessagePolicy":         {verdict: honoured},
	"container.livenessProbe":                    {verdict: planned},
	"container.readinessProbe":                   {verdict: planned},
	"container.startupProbe":                     {verdict: planned},
	"container.lifecycle":                        {verdict: planned},
	"container.stdin":                            {verdict: planned},
	"container.stdinOnce":                        {verdict: planned},
	"container.tty":                              {verdict: planned},

	"container.volumeMounts":                     {verdict: inside},
	"container.volumeMounts[]":                   {verdict: inside},
	"container.volumeMounts[].name":              {verdict: honoured},
	"container.volumeMounts[].mountPath":         {verdict: honoured},
	"container.volumeMounts[].readOnly":          {verdict: honoured},
	"container.volumeMounts[].recursiveReadOnly": {verdict: planned, values: []string{"Disabled"}},
	"container.volumeMounts[].mountPropagation":  {verdict: planned, values: []string{"None"}},
	"container.volumeMounts[].subPath":           {verdict: planned},
	"container.volumeMounts[].subPathExpr":       {verdict: planned},
	"container.volumeMounts[].bindMountOptions":  {verdict: planned},
	"container.volumeDevices":                    {verdict: planned},

	"container.securityContext":                                 {verdict: inside},
	"container.securityContext.runAsUser":                       {verdict: honoured},
	"container.securityContext.runAsGroup":                      {verdict: honoured},
	"container.securityContext.runAsNonRoot":                    {verdict: honoured},
	"container.securityContext.privileged":                      {verdict: honoured},
	"container.securityContext.capabilities":                    {verdict: honoured},
	"container.securityContext.readOnlyRootFilesystem":          {verdict: honoured},
	"container.securityContext.allowPrivilegeEscalation":        {verdict: honoured},
	"container.securityContext.seccompProfile":                  {verdict: inside},
	"container.securityContext.seccompProfile.type":             {verdict: planned, values: []string{"RuntimeDefault", "Unconfined"}},
	"container.securityContext.seccompProfile.localhostProfile": {verdict: planned},
	"container.securityContext.procMount":                       {verdict: planned, values: []string{"Default"}},
	"container.securityContext.appArmorProfile":                 {verdict: planned},
	"container.securityContext.seLinuxOptions":                  {verdict: planned},
	"container.securityContext.windowsOptions":                  {verdict: never, why: "this is a Linux node"},
}

const (
	noDriver      = "no storage driver runs here; mount it on the node and use hostPath"
	noProvisioner = "nothing provisions volumes here"
)
