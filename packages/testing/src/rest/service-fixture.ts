/**
 * Services under test on real PostgreSQL with a real port. If identity is not among them, the fixture signs tokens with
 * its own key and answers for the opaque keys that it issued.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  generateSigningKey,
  type IntrospectedKey,
  publicJwk,
  signer,
  TOKEN_CLASSES,
} from '@cardea/auth';
import { type IntegrationEvent, type ServiceName, topicOf } from '@cardea/contracts';
import { issueKey, sha256 } from '@cardea/crypto';
import {
  type Clock,
  logger,
  readSettings,
  type Settings,
  systemClock,
  systemRandom,
  uuidV7Ids,
} from '@cardea/runtime';
import {
  type Host,
  type Infrastructure,
  infrastructure,
  type Offers,
  type ServiceDefinition,
  startHost,
} from '@cardea/service';
import { type FixtureTokens, fixtureTokens } from './fixture-tokens.ts';
import { type RestDriver, restDriver } from './rest-driver.ts';

export type FixtureOptions = {
  /** The URL that `testDatabase()` returns. */
  readonly databaseUrl: string;
  readonly definitions: readonly ServiceDefinition[];
  readonly clock?: Clock;
  readonly peers?: Offers;
  /** Settings by name, as in the environment. */
  readonly env?: { readonly [name: string]: string };
  /** Receives log lines. By default the log is discarded. */
  readonly onLog?: (line: string) => void;
};

export type ServiceFixture = {
  readonly baseUrl: string;
  readonly managementUrl: string;
  /** Checks every response against its contract. */
  readonly rest: RestDriver;
  readonly host: Host;
  readonly shared: Infrastructure;
  readonly settings: Settings;
  /** Tokens and keys that the services accept. They are useless if identity itself runs. */
  readonly tokens: FixtureTokens;
  /** Puts an integration event on its source's topic, as that service's relay would. Returns the whole event. */
  publish(event: Partial<Omit<IntegrationEvent, 'data'>> & FixtureEvent): Promise<IntegrationEvent>;
  stop(): Promise<void>;
};

export type FixtureEvent = {
  readonly source: ServiceName;
  readonly type: string;
  readonly tenantId: string;
  readonly streamId: string;
  /** Without `context` the fixture adds an empty one. */
  readonly data: object;
};

const NO_CONTEXT = { ip: null, user_agent: null, app_id: null, agent_id: null, request_id: null };
const VERSION = '0.0.0-test';

export async function serviceFixture(options: FixtureOptions): Promise<ServiceFixture> {
  // Mail without a server is written to files, so it goes to a folder that is removed.
  const folder = mkdtempSync(join(tmpdir(), 'cardea-fixture-'));
  const settings = settingsOf(options, folder);
  const clock = options.clock ?? systemClock;
  const write = options.onLog ?? ((): void => undefined);
  // Lines that nobody reads are not even written.
  const level = options.onLog === undefined ? 'error' : 'debug';
  const log = logger({ service: 'test', version: VERSION, level, stream: { write } });
  const shared = infrastructure({ settings, version: VERSION, log, clock });
  const key = generateSigningKey();
  const introspected = new Map<string, IntrospectedKey>();
  // If identity runs, it answers itself.
  const identity: Offers['identity'] = options.definitions.some(({ name }) => name === 'identity')
    ? {}
    : {
        jwks: async () => ({ keys: [publicJwk(key.privateKey)] }),
        introspect: async ({ token }) => ({ key: introspected.get(token) ?? null }),
        ended: async ({ marks }) => ({ ended: marks.map(() => false) }),
        origins: async () => ({ origins: [] }),
        pageToken: async () => ({ token: null }),
        proofs: async () => ({ ways: [], challenge: null }),
        stepUp: async () => ({ refused: 'user_session_required', status: 401, retryAfter: null }),
        facts: async () => ({ agent: null, session: null, user: null }),
      };
  const host = await startHost({
    infrastructure: shared,
    definitions: options.definitions,
    port: 0,
    managementPort: 0,
    hosts: ['127.0.0.1'],
    peers: {
      ...options.peers,
      identity: { ...identity, ...options.peers?.identity },
    },
  }).catch((error: unknown) => {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  });
  const baseUrl = `http://127.0.0.1:${host.port}`;
  let position = BigInt(Date.now()) * 1000n;
  return {
    baseUrl,
    managementUrl: `http://127.0.0.1:${host.managementPort}`,
    rest: restDriver({ baseUrl, endpoints: host.endpoints }),
    host,
    shared,
    settings,
    tokens: fixtureTokens({
      issuer: settings.ISSUER,
      clock,
      sign: signer({ active: () => key }),
      classes: TOKEN_CLASSES,
      remember: (credential, principal) => introspected.set(credential, principal),
      issue: (kind) => issueKey(kind, 'test'),
    }),
    async publish(event) {
      position += 1n;
      const whole: IntegrationEvent = {
        id: uuidV7Ids(clock, systemRandom).next(),
        time: clock.now().toISOString(),
        position: String(position),
        schemaVersion: 1,
        actor: { type: 'system', id: event.source },
        ...event,
        data: { context: NO_CONTEXT, ...event.data },
      } as IntegrationEvent;
      await shared.publisher.publish(topicOf(event.source), [whole]);
      return whole;
    },
    async stop() {
      try {
        await host.stop();
        await shared.close();
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  };
}

function settingsOf({ databaseUrl, env = {} }: FixtureOptions, folder: string): Settings {
  const read = readSettings(
    {
      DATABASE_URL: databaseUrl,
      JWT_SECRET: randomBytes(32).toString('hex'),
      // Replicas on one database can decrypt each other's data.
      ENCRYPTION_KEY: sha256(databaseUrl).toString('hex'),
      ENV: 'development',
      DATABASE_POOL_SIZE: '10',
      CARDEA_DATA: folder,
      ...env,
    },
    { standalone: true },
  );
  if ('faults' in read) throw new Error(read.faults.map(({ name }) => name).join(', '));
  return read.ok;
}
