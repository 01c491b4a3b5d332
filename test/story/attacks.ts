/**
 * An attacker has taken over the processes of one service, and so has their environment. Each attack tries to read or
 * forge what belongs to another service, on every path to it, and returns what it got.
 */
import type { Cluster } from '@cardea/cluster';
import { LISTENS_TO, SERVICE_NAMES, type ServiceName, topicOf } from '@cardea/contracts';
import { deriveFrom } from '@cardea/crypto';
import { kafkaClient } from '@cardea/event-bus';
import { type EventStore, postgresEventStores } from '@cardea/event-store';
import { rolesOf } from '@cardea/read-models';
import { readSettings, type Settings } from '@cardea/runtime';
import { internalBearers, ownEnvironment } from '@cardea/service';
import { redisSays, silentLogger } from '@cardea/testing';
import { Client, escapeIdentifier } from 'pg';

export type Attack = { readonly by: ServiceName; readonly on: ServiceName };
type Way = (attack: Attack, cluster: Cluster) => Promise<readonly string[]>;

/** Returns what was obtained and by which service. Empty if every attack failed. */
export async function gotBy(attack: Attack, cluster: Cluster): Promise<readonly string[]> {
  const ways = await Promise.all(
    [log, tables, topics, cache, bearer].map((way) => way(attack, cluster)),
  );
  return ways.flat().map((what) => `${attack.by} got ${what} of ${attack.on}`);
}

/** The attacks of each service on each other service. */
export const ATTACKS: readonly Attack[] = SERVICE_NAMES.flatMap((by) =>
  SERVICE_NAMES.filter((on) => on !== by).map((on) => ({ by, on })),
);

function settingsIn(cluster: Cluster, service: ServiceName): Settings {
  const read = readSettings(cluster.environmentOf(service));
  if ('ok' in read) return read.ok;
  throw new Error(`${service} has wrong settings`);
}

async function asking<T>(
  url: string,
  role: string,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({ connectionString: url, options: `-c role=${role}` });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const succeeds = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  );

const log: Way = async ({ by, on }, cluster) => {
  const url = settingsIn(cluster, by).DATABASE_URL.reveal();
  const stores = postgresEventStores({ connectionString: url, role: rolesOf(by).app });
  try {
    const store: EventStore = stores.forLog(on);
    const read = await store.readLog(on, 0n, 1);
    const [head] = [await store.head(on)];
    const event = {
      ...{ id: crypto.randomUUID(), type: 'Forged', schemaVersion: 1, time: new Date(), data: {} },
      metadata: { tenantId: 't', actor: { type: 'system' as const, id: on } },
    };
    const forged = await succeeds(
      store.append([{ streamId: 'forged-1', expected: 'any', events: [event] }]),
    );
    return [
      ...(read.length > 0 ? ['events'] : []),
      // The dispatcher may know the head, because webhooks begin at positions of the logs.
      ...(head > 0n && by !== 'webhooks' ? ['the head of the log'] : []),
      ...(forged ? ['an event into the log'] : []),
    ];
  } finally {
    await stores.close();
  }
};

const tables: Way = async ({ by, on }, cluster) => {
  const names = await asking(cluster.addresses().postgres, 'none', async (client) => {
    const { rows } = await client.query<{ name: string }>(
      'SELECT tablename AS name FROM pg_tables WHERE schemaname = $1',
      [on],
    );
    return rows.map(({ name }) => name);
  });
  if (names.length === 0) throw new Error(`${on} has no tables`);
  const url = settingsIn(cluster, by).DATABASE_URL.reveal();
  const got: string[] = [];
  for (const role of Object.values(rolesOf(by))) {
    await asking(url, role, async (client) => {
      for (const name of names) {
        const table = `${on}.${escapeIdentifier(name)}`;
        if (await succeeds(client.query(`SELECT FROM ${table}`))) got.push(`rows of ${name}`);
        if (await succeeds(client.query(`DELETE FROM ${table}`))) got.push(`rows out of ${name}`);
      }
      for (const other of [...Object.values(rolesOf(on)), ...Object.values(rolesOf())]) {
        if (await succeeds(client.query(`SET ROLE ${other}`))) got.push(`the role ${other}`);
      }
    });
  }
  return got;
};

const topics: Way = async ({ by, on }, cluster) => {
  const settings = settingsIn(cluster, by);
  const {
    KAFKA_BROKERS: brokers = [],
    KAFKA_USERNAME: username,
    KAFKA_PASSWORD: password,
  } = settings;
  const client = kafkaClient({ brokers, username, password, log: silentLogger });
  const kafka = client.connect({ retry: { retries: 1, initialRetryTime: 50 } });
  const [producer, admin] = [kafka.producer({ allowAutoTopicCreation: false }), kafka.admin()];
  await Promise.all([producer.connect(), admin.connect()]);
  try {
    const topic = topicOf(on);
    const mayRead = LISTENS_TO[by].includes(on);
    const forged = await succeeds(producer.send({ topic, messages: [{ key: 'k', value: '{}' }] }));
    const reached = await succeeds(admin.fetchTopicOffsets(topic));
    if (mayRead && !reached) throw new Error(`${by} cannot read the topic of ${on}`);
    return [
      ...(forged ? ['a record into the topic'] : []),
      ...(reached && !mayRead ? ['the topic'] : []),
    ];
  } finally {
    await Promise.all([producer.disconnect(), admin.disconnect()]);
  }
};

/** A key of each service that no other service has a reason to read or write. */
const KEYS: { readonly [service in ServiceName]: readonly string[] } = {
  identity: ['webauthn:x', 'op:Session:x', 'users-export:t:1', 'limit:identity:login:x'],
  authz: ['limit:authz:x:y'],
  vault: ['vault:epoch:t', 'vault:slot:x', 'limit:vault:x:y'],
  approval: ['approval:x', 'limit:approval:x:y'],
  webhooks: ['limit:webhooks:x:y'],
  audit: ['audit-export:t:1', 'limit:audit:x:y'],
};
/** Keys that others may read but not write, and channels on which no other service may publish. */
const WRITTEN_BY: { readonly [service in ServiceName]?: readonly string[] } = {
  identity: ['rev:user:x', 'rev:generation', 'user:changed:x', 'identity:changed:through'],
};
const SPOKEN_BY: { readonly [service in ServiceName]?: readonly string[] } = {
  identity: ['rev', 'keys:changed', 'origins:changed'],
  approval: ['approval:changed'],
  audit: ['audit:ingested'],
};

const cache: Way = async ({ by, on }, cluster) => {
  const url = settingsIn(cluster, by).REDIS_URL?.reveal() ?? '';
  const tries: readonly (readonly string[])[] = [
    ...KEYS[on].flatMap((key) => [
      ['GET', key],
      ['SET', key, '1'],
    ]),
    ...[...(WRITTEN_BY[on] ?? []), `relay:${on}`].flatMap((key) => [
      ['SET', key, '1'],
      ['DEL', key],
      ['EVAL', "return redis.call('SET', KEYS[1], '1')", '1', key],
    ]),
    ...(SPOKEN_BY[on] ?? []).map((channel) => ['PUBLISH', channel, '[]']),
    ['KEYS', '*'],
    ['SCAN', '0'],
    ['FLUSHALL'],
    ['ACL', 'LIST'],
    ['CONFIG', 'GET', '*'],
    ['MONITOR'],
  ];
  const got: string[] = [];
  for (const words of tries) {
    const said = await redisSays(url, words);
    if (!said.startsWith('-NOPERM')) got.push(`${words.slice(0, 2).join(' ')} (${said})`);
  }
  return got;
};

/** Uses everything that the service's own environment derives, as itself and as the other service. */
const bearer: Way = async ({ by, on }, cluster) => {
  const settings = settingsIn(cluster, by);
  const derive = deriveFrom(settings);
  const given = (settings.INTERNAL_BEARERS?.reveal() ?? '')
    .split(',')
    .map((each) => each.split('='));
  const own = given.filter(([callee]) => callee === on).map(([, each = '']) => each);
  const others = given.filter(([callee]) => callee !== on).map(([, each = '']) => each);
  const derived = SERVICE_NAMES.flatMap((callee) => [
    ...internalBearers({ derive }, [callee], by).to(callee),
    ...internalBearers({ derive }, [callee], on).to(callee),
    ...internalBearers({ derive, settings }, [callee], on).to(callee),
  ]);
  // A bearer that the service may use by right is not forged.
  const forged = [...others, ...derived].filter((each) => !own.includes(each));
  const path = OFFERED[on];
  const tries = cluster
    .of(on)
    .flatMap(({ internal, management }) =>
      [...new Set(forged)].flatMap((each) => [
        ...(path === undefined ? [] : [{ url: `${internal}${path}`, method: 'GET', each }]),
        { url: `${management}/loglevel`, method: 'PUT', each },
      ]),
    );
  const answers = tries.map(async ({ url, method, each }) => {
    const headers = { authorization: `Bearer ${each}`, 'content-type': 'application/json' };
    const { status } = await fetch(url, { method, headers });
    return status === 401 ? [] : [`${status} from ${url}`];
  });
  return (await Promise.all(answers)).flat();
};

/** A call that a service offers to others. Callers are authenticated before anything is looked up. */
const OFFERED: { readonly [service in ServiceName]?: string } = {
  identity: '/internal/v1/jwks',
  approval: `/internal/v1/approval/requests/${crypto.randomUUID()}`,
  // The path accepts only POST. A caller without a right to the listener is refused before that matters.
  authz: '/internal/v1/authz/holders',
};

/** Checks that a service's environment contains only what it is given, and nothing that gives more access. */
export function strangersIn(cluster: Cluster, deployment: Settings): readonly string[] {
  const all = SERVICE_NAMES.map((service) => ({ service, env: cluster.environmentOf(service) }));
  const roots = [deployment.JWT_SECRET.reveal(), deployment.ENCRYPTION_KEY.reveal()];
  return all.flatMap(({ service, env }) => {
    const own = Object.values(ownEnvironment(deployment, service));
    const held = Object.entries(env);
    const root = held.filter(([, value]) => roots.some((each) => value.includes(each)));
    const owner = held.filter(([, value]) => value.includes(cluster.addresses().postgres));
    const others = all
      .filter((other) => other.service !== service)
      .flatMap((other) => Object.values(ownEnvironment(deployment, other.service)))
      .filter((value) => !own.includes(value));
    const foreign = held.filter(([, value]) => others.includes(value));
    return [...root, ...owner, ...foreign].map(([name]) => `${service} has ${name}`);
  });
}
