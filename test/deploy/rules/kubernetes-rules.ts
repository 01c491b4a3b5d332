/** Rules for the manifests of `deploy/k8s` (`docs/deploying.md`): shape, running, secrets. */
import { readSettings, SETTING_FORMS } from '@cardea/runtime';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { Namespace } from 'kubernetes-models/v1/Namespace';
import { Service } from 'kubernetes-models/v1/Service';
import { ServiceAccount } from 'kubernetes-models/v1/ServiceAccount';
import { FIELDS } from './manifest-fields.ts';
import type { Container, Manifest, Manifests, PodSpec, Probe } from './manifests.ts';
import { difference, type Rule, SERVICES } from './rule.ts';

const MODELS: { readonly [kind: string]: new (data: never) => { validate(): void } } = {
  Deployment,
  Ingress,
  Namespace,
  NetworkPolicy,
  PodDisruptionBudget,
  Service,
  ServiceAccount,
};
const DEPLOYED = [...SERVICES, 'gateway'];
const GRACE_SECONDS_MIN = 30;
const ROOT_USER_MAX = 999;
/** 0440: readable for the group, which is the process's own. */
const GROUP_MAY_READ = 0o440;

export const deploymentsOf = ({ documents }: Manifests): readonly Manifest[] =>
  documents.filter(({ kind }) => kind === 'Deployment');
export const podOf = (document: Manifest): PodSpec =>
  document.spec?.template?.spec ?? { containers: [] };
const containersOf = (document: Manifest): readonly Container[] => {
  const { initContainers = [], containers } = podOf(document);
  return [...initContainers, ...containers];
};
const eachContainer = (
  subject: Manifests,
  wrong: (container: Container) => readonly string[],
): readonly string[] =>
  deploymentsOf(subject).flatMap((document) =>
    containersOf(document).flatMap((container) =>
      wrong(container).map((what) => `${document.metadata.name}/${container.name}: ${what}`),
    ),
  );
const ofKind = ({ documents }: Manifests, kind: string): readonly Manifest[] =>
  documents.filter((document) => document.kind === kind);

export const isWellFormed: Rule<Manifests> = ({ documents }) =>
  documents.flatMap((document) => {
    const Model = MODELS[document.kind];
    if (Model === undefined) return [`${document.kind} is no kind of ours`];
    try {
      new Model(document as never).validate();
      return [];
    } catch (error) {
      return [`${document.kind} ${document.metadata?.name}: ${(error as Error).message}`];
    }
  });

/** The models check types, not unknown fields: a misspelt field would pass them. */
export const spellsEachField: Rule<Manifests> = ({ documents }) => {
  const free = new Set(['labels', 'matchLabels', 'annotations', 'requests', 'limits']);
  const unknown = (value: unknown, parent: string): readonly string[] => {
    if (Array.isArray(value)) return value.flatMap((each) => unknown(each, parent));
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([key, inner]) => [
      ...(FIELDS.has(key) || free.has(parent) || isServiceSelector(key)
        ? []
        : [`${parent}.${key}`]),
      ...unknown(inner, key),
    ]);
  };
  return documents.flatMap((document) => unknown(document, document.kind));
};
const isServiceSelector = (key: string): boolean => key === 'app.kubernetes.io/name';

export const hasItsParts: Rule<Manifests> = (subject) => {
  const kinds = ['Deployment', 'Service', 'PodDisruptionBudget', 'ServiceAccount', 'NetworkPolicy'];
  return kinds.flatMap((kind) => {
    const names = ofKind(subject, kind).map(({ metadata }) => metadata.name);
    const expected = kind === 'NetworkPolicy' ? [...DEPLOYED, 'deny-all'] : DEPLOYED;
    return difference(expected, names, kind);
  });
};

/** Selectors of services, budgets and policies must match existing pods. */
export const selectsItsPods: Rule<Manifests> = (subject) =>
  deploymentsOf(subject).flatMap(({ metadata: { name }, spec }) => {
    const label = spec?.template?.metadata.labels['app.kubernetes.io/name'];
    const parts = subject.documents.filter((document) => document.metadata.name === name);
    const selected = parts.flatMap(({ kind, spec: part }) => {
      const selector = part?.podSelector ?? part?.selector;
      if (selector === undefined) return [];
      const own = (selector as { [name: string]: string })['app.kubernetes.io/name'];
      return (selector.matchLabels?.['app.kubernetes.io/name'] ?? own) === label
        ? []
        : [`${kind} ${name} selects others`];
    });
    return label === name ? selected : [`pods of ${name} are called ${label}`, ...selected];
  });

export const servesWhatItListensOn: Rule<Manifests> = (subject) =>
  ofKind(subject, 'Service').flatMap(({ metadata: { name }, spec }) => {
    const deployment = deploymentsOf(subject).find((each) => each.metadata.name === name);
    const listened = deployment === undefined ? [] : (podOf(deployment).containers[0]?.ports ?? []);
    return (spec?.ports ?? [])
      .filter(
        ({ port, targetPort }) =>
          !listened.some((each) => each.name === targetPort && each.containerPort === port),
      )
      .map(({ port }) => `${name} has nobody at ${port}`);
  });

export const runsTwoReplicas: Rule<Manifests> = (subject) => [
  ...deploymentsOf(subject)
    .filter(
      ({ spec }) => spec?.replicas !== 2 || spec.strategy?.rollingUpdate?.maxUnavailable !== 0,
    )
    .map(({ metadata }) => `${metadata.name} is away while it is rolled`),
  ...ofKind(subject, 'PodDisruptionBudget')
    .filter(({ spec }) => spec?.maxUnavailable !== 1)
    .map(({ metadata }) => `${metadata.name} may be drained at once, or never`),
];

/** The migration is no installer's hook, because it would then wait for pods that wait for it. */
export const migratesFirst: Rule<Manifests> = (subject) => [
  ...subject.documents
    .filter(
      ({ kind, metadata }) =>
        kind === 'Job' || Object.keys(metadata.annotations ?? {}).some((key) => /\/hook/.test(key)),
    )
    .map(({ kind, metadata }) => `${kind} ${metadata.name} hangs on an installer`),
  ...deploymentsOf(subject)
    .filter(({ metadata }) => metadata.name !== 'gateway')
    .filter((document) => {
      const [first] = podOf(document).initContainers ?? [];
      const own = podOf(document).containers[0]?.image;
      return first?.image !== own || first?.command?.join(' ') !== 'node src/main.ts migrate';
    })
    .map(({ metadata }) => `${metadata.name} starts before its tables`),
];

export const probesItsState: Rule<Manifests> = (subject) =>
  deploymentsOf(subject).flatMap((document) => {
    const { name } = document.metadata;
    const paths =
      name === 'gateway' ? ['/docs', '/docs', '/docs'] : ['/startupz', '/readyz', '/livez'];
    const port = name === 'gateway' ? 'http' : 'management';
    const [container] = podOf(document).containers;
    const probes: readonly (readonly [Probe | undefined, number, number])[] = [
      [container?.startupProbe, 5, 60],
      [container?.readinessProbe, 5, 2],
      [container?.livenessProbe, 10, 3],
    ];
    return probes
      .filter(
        ([probe, period, failures], at) =>
          probe?.httpGet?.path !== paths[at] ||
          probe?.httpGet?.port !== port ||
          probe?.periodSeconds !== period ||
          probe?.failureThreshold !== failures,
      )
      .map((_, at) => `${name}: probe ${at}`);
  });

export const confinesEachContainer: Rule<Manifests> = (subject) => [
  ...eachContainer(subject, ({ securityContext: context }) =>
    context?.allowPrivilegeEscalation === false &&
    context.readOnlyRootFilesystem === true &&
    context.privileged !== true &&
    context.capabilities?.drop?.join() === 'ALL' &&
    context.capabilities.add === undefined
      ? []
      : ['may do more than it needs'],
  ),
  ...deploymentsOf(subject)
    .filter((document) => {
      const { securityContext: pod, hostNetwork } = podOf(document);
      return (
        pod?.runAsNonRoot !== true ||
        (pod.runAsUser ?? 0) <= ROOT_USER_MAX ||
        pod.seccompProfile?.type !== 'RuntimeDefault' ||
        hostNetwork === true
      );
    })
    .map(({ metadata }) => `${metadata.name} may be root`),
];

export const boundsItsMemory: Rule<Manifests> = (subject) =>
  eachContainer(subject, ({ name, image, resources }) => {
    const most = name === 'authz' || image === 'cardea/authz' ? '1Gi' : '512Mi';
    const { requests, limits } = resources ?? {};
    return [
      ...(requests?.cpu === '100m' && requests.memory === '192Mi'
        ? []
        : ['asks for other amounts']),
      ...(limits?.memory === most ? [] : ['has no bound, or another']),
      ...(limits?.cpu === undefined ? [] : ['is slowed down']),
    ];
  });

/** Services delay their own shutdown after SIGTERM; only nginx needs a hook for it. */
export const stopsInTime: Rule<Manifests> = (subject) =>
  deploymentsOf(subject)
    .filter((document) => {
      const { terminationGracePeriodSeconds: grace = 0, containers } = podOf(document);
      const waits = containers.some(({ lifecycle }) => lifecycle !== undefined);
      return grace < GRACE_SECONDS_MIN || waits !== (document.metadata.name === 'gateway');
    })
    .map(({ metadata }) => `${metadata.name} is cut off, or waits twice`);

export const carriesNoToken: Rule<Manifests> = (subject) => [
  ...ofKind(subject, 'ServiceAccount')
    .filter((account) => account.automountServiceAccountToken !== false)
    .map(({ metadata }) => `${metadata.name} has a token`),
  ...deploymentsOf(subject)
    .filter((document) => {
      const pod = podOf(document);
      return (
        pod.automountServiceAccountToken !== false ||
        pod.serviceAccountName !== document.metadata.name
      );
    })
    .map(({ metadata }) => `pods of ${metadata.name} carry a token`),
];

/** Variables of other Services could have the names of settings. */
export const takesNoServiceLinks: Rule<Manifests> = (subject) =>
  deploymentsOf(subject)
    .filter((document) => podOf(document).enableServiceLinks !== false)
    .map(({ metadata }) => `${metadata.name} is told of every Service`);

export const keepsSecretsInFiles: Rule<Manifests> = (subject) => {
  const secrets = SETTING_FORMS.filter(({ secret }) => secret).map(({ name }) => name);
  return [
    ...ofKind(subject, 'Secret').map(({ metadata }) => `${metadata.name} stands in the repository`),
    ...Object.keys(subject.settings)
      .filter((name) => secrets.includes(name))
      .map((name) => `${name} stands in the settings`),
    ...eachContainer(subject, ({ env = [], envFrom = [] }) => [
      ...env.filter(({ name }) => secrets.includes(name)).map(({ name }) => `${name} is no file`),
      ...[...env, ...envFrom]
        .filter((each) => /secret(Key)?Ref/.test(JSON.stringify(each)))
        .map(() => 'a secret is a variable'),
    ]),
    ...deploymentsOf(subject).flatMap((document) =>
      (podOf(document).volumes ?? [])
        .filter(({ secret }) => secret !== undefined && secret.defaultMode !== GROUP_MAY_READ)
        .map(({ name }) => `${document.metadata.name}: ${name} is for everybody`),
    ),
  ];
};

/** Only the containers that migrate or make logins connect as the owner of the tables. */
export const keepsTheOwnerApart: Rule<Manifests> = (subject) =>
  eachContainer(subject, ({ name, volumeMounts = [] }) =>
    volumeMounts.some((mount) => mount.name === 'migration') === /^(migrate|logins)$/.test(name)
      ? []
      : ['is the owner, or is not'],
  );

const SAMPLES: { readonly [name: string]: string } = {
  DATABASE_URL: 'postgres://someone@postgres/cardea?sslmode=verify-full',
  MIGRATION_DATABASE_URL: 'postgres://owner@postgres/cardea?sslmode=verify-full',
  REDIS_URL: 'rediss://redis:6379',
  EVENTSTORE_URL: 'esdb+discover://eventstore:2113?tls=true',
  KAFKA_USERNAME: 'someone',
  KAFKA_PASSWORD: 'a password',
  INTERNAL_KEY: '0f'.repeat(32),
  INTERNAL_BEARERS: `identity=${'b'.repeat(43)}`,
  PAGES_KEY: '1e'.repeat(32),
  JWT_SECRET: 'a secret of more than thirty-two characters',
  ENCRYPTION_KEY: '0f'.repeat(16) + 'e1'.repeat(16),
};

/** Settings that name secret files are assumed to be readable; the files must be mounted at those paths. */
export const knowsItsSettings: Rule<Manifests> = (subject) =>
  eachContainer(subject, ({ name, env = [], volumeMounts = [] }) => {
    if (name === 'gateway') return [];
    const own = Object.fromEntries(env.map((each) => [each.name, each.value ?? '']));
    const given = Object.entries({ ...subject.settings, ...own });
    const known = SETTING_FORMS.flatMap((form) =>
      form.secret ? [form.name, `${form.name}_FILE`] : [form.name],
    );
    const files = given.filter(([setting]) => setting.endsWith('_FILE'));
    const filled = given.map(([setting, value]) => {
      const plain = setting.replace(/_FILE$/, '');
      return [plain, setting === plain ? value : SAMPLES[plain]] as const;
    });
    const read = readSettings(Object.fromEntries(filled));
    return [
      ...given.filter(([each]) => !known.includes(each)).map(([each]) => `${each} is no setting`),
      ...('faults' in read ? read.faults.map((each) => `${each.name} ${each.fault}`) : []),
      ...files
        .filter(
          ([, path]) => !volumeMounts.some(({ mountPath }) => path.startsWith(`${mountPath}/`)),
        )
        .map(([each]) => `${each} is not mounted`),
    ];
  });
