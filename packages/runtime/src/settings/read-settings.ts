import { readFileSync } from 'node:fs';
import { armFailPoints, type FailPoint, parseFailPoints } from '../failpoint.ts';
import { plaintextFaults } from './plaintext.ts';
import { productionFaults, RETRY_DELAYS_MS } from './production-faults.ts';
import { secret } from './secret.ts';
import {
  baseUrl,
  bool,
  cidr,
  decimal,
  duration,
  type Form,
  hidden,
  integer,
  list,
  oneOf,
  origin,
  ownOrigin,
  text,
  url,
} from './setting-forms.ts';
import type { Environment, SettingFault, Settings } from './settings.ts';
import { usableBytes } from './usable-bytes.ts';

export type ReadSettings = { readonly ok: Settings } | { readonly faults: readonly SettingFault[] };

export type ReadOptions = {
  /** Everything runs in one process: the launcher provides secrets and database, and the mode is development. */
  readonly standalone?: boolean;
  /** CPUs of this machine, for defaults that depend on them. */
  readonly cpus?: number;
  /** Memory that this process may use, for defaults that depend on it. */
  readonly memoryBytes?: number;
};

type Field<T> = Form<T> & {
  readonly secret?: true;
  /** Must be set if the services run in containers. */
  readonly required?: true;
  readonly or?: (so: Settings, options: ReadOptions) => T;
};

const port = integer(1, 65_535);
const longSecret = text('at least 32 characters', /^.{32,4096}$/s);
const oneOrTwoKeys = text(
  'one or two keys of 64 hexadecimal digits, comma between',
  /^[0-9a-f]{64}(,[0-9a-f]{64})?$/,
);
const encryptionKey = text('64 hexadecimal digits', /^[0-9a-f]{64}$/i);
const postgres = url('postgres:', 'postgresql:');

const hiddenField = <const More extends object>(inner: Form<string>, more: More) => ({
  ...hidden(inner),
  secret: true as const,
  ...more,
});
const optional = { or: () => undefined };
const cidrs = { ...list(cidr, 'CIDR blocks', 100), or: () => [] };

/** Settings in the order of their defaults, because a default may depend on earlier settings. */
const FIELDS: { readonly [Name in keyof Settings]: Field<Settings[Name]> } = {
  ENV: {
    ...oneOf('development', 'production'),
    or: (_, { standalone }) => (standalone ? 'development' : 'production'),
  },
  LOG_LEVEL: { ...oneOf('debug', 'info', 'warn', 'error'), or: () => 'info' },
  PORT: { ...port, or: () => 8080 },
  MANAGEMENT_PORT: { ...port, or: () => 8081 },
  INTERNAL_PORT: { ...port, or: () => 8082 },
  HOST: {
    ...text('an address or a host name', /^[\w.:-]{1,253}$/),
    or: (_, { standalone }) => (standalone ? undefined : '::'),
  },
  PUBLIC_URL: { ...ownOrigin, or: (so) => `http://localhost:${so.PORT}` },
  ISSUER: { ...ownOrigin, or: (so) => so.PUBLIC_URL },
  DATABASE_URL: hiddenField(postgres, { required: true }),
  MIGRATION_DATABASE_URL: hiddenField(postgres, { or: (so: Settings) => so.DATABASE_URL }),
  DATABASE_POOL_SIZE: { ...integer(1, 200), or: () => 20 },
  REDIS_URL: hiddenField(url('redis:', 'rediss:'), { required: true, ...optional }),
  EVENTSTORE_URL: hiddenField(url('esdb:', 'esdb+discover:'), optional),
  KAFKA_BROKERS: {
    ...list(text('host:port', /^[\w.-]{1,253}:\d{1,5}$/), 'host:port', 100),
    ...optional,
  },
  KAFKA_TLS: { ...bool, or: () => false },
  KAFKA_USERNAME: hiddenField(text('1 to 255 characters', /^.{1,255}$/), optional),
  KAFKA_PASSWORD: hiddenField(text('1 to 1024 characters', /^.{1,1024}$/s), optional),
  KAFKA_REPLICATION: { ...integer(1, 15), or: () => 3 },
  JWT_SECRET: hiddenField(longSecret, { required: true }),
  JWT_SECRET_PREVIOUS: hiddenField(longSecret, optional),
  ENCRYPTION_KEY: hiddenField(encryptionKey, { required: true }),
  ENCRYPTION_KEY_PREVIOUS: hiddenField(encryptionKey, optional),
  INTERNAL_KEY: hiddenField(oneOrTwoKeys, optional),
  INTERNAL_BEARERS: hiddenField(
    text('service=bearer, comma between', /^[a-z]+=[\w-]{43}(,[a-z]+=[\w-]{43}){0,15}$/),
    optional,
  ),
  PAGES_KEY: hiddenField(oneOrTwoKeys, optional),
  CARDEA_COMPARTMENTS: { ...bool, or: () => false },
  ADMIN_EMAIL: { ...text('an e-mail address', /^[^\s@]{1,64}@[^\s@]{1,253}$/), ...optional },
  ADMIN_PASSWORD: hiddenField(text('8 to 1024 characters', /^.{8,1024}$/s), optional),
  JWT_EXPIRY: { ...duration('1s', '24h', 1000), or: () => 900 },
  REFRESH_TOKEN_EXPIRY: { ...duration('1s', '365d', 1000), or: () => 7 * 86_400 },
  SIGNING_KEY_ROTATION_DAYS: { ...integer(1, 3650), or: () => 90 },
  SIGNUP_ENABLED: { ...bool, or: () => true },
  INTROSPECT_REQUIRE_AUTH: { ...bool, or: () => false },
  IDENTITY_PRIVATE_ORIGINS: { ...list(origin, 'origins', 50), or: () => [] },
  CORS_ORIGINS: { ...list(origin, 'origins', 50), or: () => [] },
  SMTP_URL: hiddenField(url('smtp:', 'smtps:'), optional),
  MAIL_FROM: {
    ...text(
      'an address, or a name and <address>',
      /^[^\r\n]{0,200}[^\s@<]{1,64}@[^\s@>]{1,253}>?$/,
    ),
    or: () => 'Cardea <no-reply@cardea.local>',
  },
  GEOIP_DB_PATH: { ...text('an absolute path', /^\/[^\0]{0,4095}$/), ...optional },
  TRUSTED_PROXIES: cidrs,
  GATEWAY_TRUSTED_PROXIES: cidrs,
  IDENTITY_INTERNAL_URL: { ...baseUrl, or: () => 'http://identity:8082' },
  APPROVAL_INTERNAL_URL: { ...baseUrl, or: () => 'http://approval:8082' },
  AUTHZ_INTERNAL_URL: { ...baseUrl, or: () => 'http://authz:8082' },
  RATE_LIMIT_FACTOR: {
    ...decimal(0.01, 1_000_000),
    or: (so) => (so.ENV === 'development' ? 100 : 1),
  },
  ARGON2_MEMORY: { ...integer(8, 131_072), or: () => 19_456 },
  ARGON2_TIME: { ...integer(1, 10), or: () => 2 },
  HASH_CONCURRENCY: { ...integer(1, 256), or: (_, { cpus }) => Math.max(1, (cpus ?? 2) - 1) },
  HTTP_FAST_PATH: { ...oneOf('on', 'off'), or: () => 'on' },
  SHUTDOWN_DELAY: {
    ...duration('0s', '5m', 1),
    or: (_, { standalone }) => (standalone ? 0 : 5000),
  },
  SHUTDOWN_TIMEOUT: { ...duration('1s', '10m', 1), or: () => 25_000 },
  OTEL_EXPORTER_OTLP_ENDPOINT: { ...url('http:', 'https:'), ...optional },
  OTEL_TRACES_SAMPLER_ARG: { ...decimal(0, 1), or: () => 0.05 },
  WEBHOOK_CONCURRENCY: { ...integer(1, 10_000), or: () => 256 },
  WEBHOOK_ALLOWED_CIDRS: cidrs,
  WEBHOOK_AUTO_DISABLE_DAYS: { ...integer(0, 365), or: () => 5 },
  WEBHOOK_RETRY_DELAYS: {
    form: 'five durations, comma between; the default in production',
    read: (given) => {
      const all = list(duration('0s', '7d', 1), '', 5).read(given);
      return all?.length === 5 ? all : undefined;
    },
    or: () => RETRY_DELAYS_MS,
  },
  AUTHZ_MAX_STALENESS: { ...duration('1s', '1h', 1), or: () => 5000 },
  AUTHZ_INDEX_MAX_BYTES: {
    ...integer(0, 2 ** 40),
    or: (_, { memoryBytes }) => Math.floor((memoryBytes ?? usableBytes()) / 4),
  },
  AUTHZ_SNAPSHOT_DIR: { ...text('an absolute path', /^\/[^\0]{0,4095}$/), ...optional },
  VAULT_REVEAL: { ...oneOf('off', 'on'), or: () => 'off' },
  VAULT_SESSION_RATE: { ...integer(1, 100_000), or: () => 100 },
  CARDEA_DATA: { ...text('a path', /^[^\0]{1,4096}$/), ...optional },
  CARDEA_REQUIRE_TLS: { ...bool, or: () => false },
  CARDEA_ALLOW_PLAINTEXT: {
    ...list(
      text('host or host:port', /^(\[[\da-f:.]{2,45}\]|[\w.-]{1,253})(:\d{1,5})?$/i),
      'host or host:port',
      100,
    ),
    or: () => [],
  },
};

/** Names with the prefix that other code reads: tests and fail points. */
const FOR_TESTS = ['CARDEA_REQUIRE', 'CARDEA_KAFKA_LIB', 'CARDEA_CONTAINERS', 'CARDEA_FAILPOINT'];
/** The secrets of clients, each also as `<NAME>_FILE`. Servers ignore them. */
const OF_CLIENTS =
  /^CARDEA_(URL|TENANT|API_KEY|AGENT_KEY|CAPABILITY|WEBHOOK_SECRET|CLIENT_ID|CLIENT_SECRET|ACCESS_TOKEN|FIREBASE_HASH_CONFIG)(_FILE)?$/;

/** Reads all settings and names every fault at once. An empty variable counts as unset, as does an empty file. */
export function readSettings(env: Environment, options: ReadOptions = {}): ReadSettings {
  const faults: SettingFault[] = unknownNames(env);
  const so: Record<string, unknown> = {};
  const set = new Set<string>();
  for (const [name, field] of Object.entries<Field<unknown>>(FIELDS)) {
    const given = textOf(env, name, field);
    if (given !== undefined) set.add(name);
    if (typeof given === 'object') {
      faults.push(given);
    } else if (given === undefined) {
      if (field.required && !options.standalone) faults.push(fault(name, 'is required', field));
      so[name] = unset(field, so, options);
    } else {
      so[name] = field.read(given);
      if (so[name] === undefined) faults.push(fault(name, 'has not the form expected', field));
    }
  }
  const settings = so as Settings;
  faults.push(
    ...pairFaults(set),
    ...failPointFaults(env),
    ...productionFaults(env, settings),
    ...plaintextFaults(settings),
  );
  return faults.length === 0 ? { ok: settings } : { faults };
}

/**
 * Reads a process's own environment as {@link readSettings} does, arms the fail points, and removes the secrets from
 * the environment, so that no child process and no dump contains them.
 */
export function takeSettings(
  env: { [name: string]: string | undefined },
  options: ReadOptions = {},
): ReadSettings {
  const read = readSettings(env, options);
  for (const [name, field] of Object.entries<Field<unknown>>(FIELDS)) {
    if (field.secret) delete env[name];
  }
  if ('ok' in read) armFailPoints(failPointsOf(env) ?? []);
  return read;
}

/** One message for all faults: a line each. */
export function formatFaults(faults: readonly SettingFault[]): string {
  const lines = faults.map(({ name, fault, form }) => `  ${name} ${fault}; expected: ${form}`);
  return [`The configuration has ${faults.length} fault(s):`, ...lines].join('\n');
}

/** Names, forms and kinds of all settings, for documents and `config list`. */
export const SETTING_FORMS: readonly {
  readonly name: string;
  readonly form: string;
  readonly secret: boolean;
  readonly required: boolean;
}[] = Object.entries<Field<unknown>>(FIELDS).map(([name, field]) => ({
  name,
  form: field.form,
  secret: field.secret === true,
  required: field.required === true,
}));

function unset(field: Field<unknown>, so: object, options: ReadOptions): unknown {
  if (field.or !== undefined) return field.or(so as Settings, options);
  return secret(''); // The setting is required, so either there is a fault already or the launcher fills it in.
}

function textOf(
  env: Environment,
  name: string,
  field: Field<unknown>,
): string | undefined | SettingFault {
  const given = env[name] || undefined;
  const file = field.secret ? env[`${name}_FILE`] || undefined : undefined;
  if (file === undefined) return given;
  if (given !== undefined) return fault(name, `and ${name}_FILE are both set`, field);
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '') || undefined;
  } catch {
    return { name: `${name}_FILE`, fault: 'cannot be read', form: 'the path of a readable file' };
  }
}

function unknownNames(env: Environment): SettingFault[] {
  return Object.keys(env)
    .filter((name) => name.startsWith('CARDEA_') && !(name in FIELDS))
    .filter((name) => !FOR_TESTS.includes(name) && !OF_CLIENTS.test(name))
    .map((name) => ({ name, fault: 'is unknown', form: 'a name in docs/settings.md' }));
}

const PAIRS = [
  ['ADMIN_EMAIL', 'ADMIN_PASSWORD'],
  ['KAFKA_USERNAME', 'KAFKA_PASSWORD'],
  ['INTERNAL_KEY', 'INTERNAL_BEARERS'],
  ['INTERNAL_KEY', 'PAGES_KEY'],
] as const;

function pairFaults(set: ReadonlySet<string>): SettingFault[] {
  return PAIRS.filter(([name, secretName]) => set.has(name) !== set.has(secretName)).map(
    ([name, secretName]) => ({
      name: set.has(name) ? secretName : name,
      fault: 'is missing',
      form: `both or none of ${name} and ${secretName}`,
    }),
  );
}

function failPointFaults(env: Environment): SettingFault[] {
  if (!env['CARDEA_FAILPOINT'] || failPointsOf(env) !== undefined) return [];
  const form = 'name=kill|throw|pause|delay:ms, optionally @n';
  return [{ name: 'CARDEA_FAILPOINT', fault: 'has not the form expected', form }];
}

const failPointsOf = (env: Environment): readonly FailPoint[] | undefined =>
  env['CARDEA_FAILPOINT'] ? parseFailPoints(env['CARDEA_FAILPOINT']) : undefined;

const fault = (name: string, what: string, field: Field<unknown>): SettingFault => ({
  name,
  fault: what,
  form: field.form,
});
