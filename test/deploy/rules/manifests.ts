/** The documents of a folder as kustomize would send them to a cluster, before it adds hashes to names. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import { parse, parseAllDocuments } from 'yaml';

export type Container = {
  name: string;
  image: string;
  command?: string[];
  env?: { name: string; value?: string; valueFrom?: object }[];
  envFrom?: { configMapRef?: { name: string }; secretRef?: object }[];
  ports?: { name: string; containerPort: number }[];
  volumeMounts?: { name: string; mountPath: string; readOnly?: boolean }[];
  securityContext?: {
    allowPrivilegeEscalation?: boolean;
    readOnlyRootFilesystem?: boolean;
    privileged?: boolean;
    capabilities?: { drop?: string[]; add?: string[] };
  };
  resources?: { requests?: Amounts; limits?: Amounts };
  lifecycle?: object;
  startupProbe?: Probe;
  readinessProbe?: Probe;
  livenessProbe?: Probe;
};
type Amounts = { cpu?: string; memory?: string };
export type Probe = {
  httpGet?: { path: string; port: string };
  periodSeconds?: number;
  failureThreshold?: number;
  timeoutSeconds?: number;
};
export type PodSpec = {
  serviceAccountName?: string;
  automountServiceAccountToken?: boolean;
  enableServiceLinks?: boolean;
  terminationGracePeriodSeconds?: number;
  hostNetwork?: boolean;
  securityContext?: {
    runAsNonRoot?: boolean;
    runAsUser?: number;
    seccompProfile?: { type: string };
  };
  initContainers?: Container[];
  containers: Container[];
  volumes?: {
    name: string;
    secret?: { secretName: string; defaultMode?: number };
    emptyDir?: { medium?: string };
  }[];
};
type Labels = { [name: string]: string };
export type Selector = { matchLabels?: Labels };
export type Peer = {
  podSelector?: Selector;
  namespaceSelector?: Selector;
  ipBlock?: { cidr: string; except?: string[] };
};
export type Traffic = { from?: Peer[]; to?: Peer[]; ports?: { port: number }[] };

export type Manifest = {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels?: Labels; annotations?: Labels };
  automountServiceAccountToken?: boolean;
  data?: { [name: string]: string };
  stringData?: { [name: string]: string };
  spec?: {
    replicas?: number;
    strategy?: { rollingUpdate?: { maxUnavailable?: number } };
    selector?: Selector & Labels;
    template?: { metadata: { labels: Labels }; spec: PodSpec };
    ports?: { name: string; port: number; targetPort?: string }[];
    podSelector?: Selector;
    policyTypes?: string[];
    ingress?: Traffic[];
    egress?: Traffic[];
    maxUnavailable?: number;
  };
};

export type Manifests = {
  readonly documents: Manifest[];
  /** The settings of the generated ConfigMap. */
  readonly settings: { [name: string]: string };
};

type Kustomization = {
  readonly resources: readonly string[];
  readonly configMapGenerator?: readonly { readonly name: string; readonly envs?: string[] }[];
  readonly patches?: readonly { readonly path: string }[];
};

export const kustomizationOf = (folder: string): Kustomization =>
  parse(readFileSync(join(folder, 'kustomization.yaml'), 'utf8'));

/** The documents that a kustomization lists, those of the folders below it included. */
export function readManifests(folder: string): Manifests {
  const { resources, configMapGenerator = [] } = kustomizationOf(folder);
  const parts = resources.map((resource) => {
    const path = join(folder, resource);
    return existsSync(join(path, 'kustomization.yaml'))
      ? readManifests(path)
      : { documents: documentsIn(path), settings: {} };
  });
  const own = configMapGenerator
    .flatMap(({ envs = [] }) => envs)
    .map((file) => parseEnv(readFileSync(join(folder, file), 'utf8')));
  return {
    documents: parts.flatMap(({ documents }) => documents),
    settings: Object.assign({}, ...parts.map(({ settings }) => settings), ...own),
  };
}

export const documentsIn = (path: string): Manifest[] =>
  parseAllDocuments(readFileSync(path, 'utf8'), { merge: true }).map((document) => {
    if (document.errors.length > 0) throw new Error(`${dirname(path)}: ${document.errors[0]}`);
    return document.toJS();
  });
