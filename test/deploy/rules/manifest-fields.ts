/** Every field that our manifests use, at any depth: a name that is missing here is a typing error. */
export const FIELDS: ReadonlySet<string> = new Set(
  `
  allowPrivilegeEscalation apiVersion automountServiceAccountToken backend capabilities cidr command
  configMapKeyRef configMapRef containerPort containers defaultMode drop egress emptyDir enableServiceLinks
  env envFrom except exec failureThreshold fieldPath fieldRef from fsGroup host hosts http httpGet image
  ingress initContainers ipBlock key kind labelSelector labels lifecycle limits annotations livenessProbe
  matchLabels maxSkew maxSurge maxUnavailable medium metadata mountPath name namespace namespaceSelector number
  path pathType paths periodSeconds podSelector policyTypes port ports preStop protocol readOnly
  readOnlyRootFilesystem readinessProbe replicas requests resources revisionHistoryLimit rollingUpdate
  rules runAsGroup runAsNonRoot runAsUser seccompProfile secret secretName securityContext selector service
  serviceAccountName sizeLimit spec startupProbe strategy targetPort template
  terminationGracePeriodSeconds timeoutSeconds tls to topologyKey topologySpreadConstraints type value
  valueFrom volumeMounts volumes whenUnsatisfiable
  `
    .trim()
    .split(/\s+/),
);
