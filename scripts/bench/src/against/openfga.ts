/** OpenFGA with PostgreSQL, and section 1 of `docs/design/authz.md` as its model. */

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import type { ReferenceTuple } from '@cardea/testing';
import type { BenchContext } from '../harness.ts';
import type { LoadRequest } from '../http.ts';
import {
  analyze,
  type CheckServer,
  chunksOf,
  freePort,
  pooled,
  type Question,
  sent,
  startServer,
} from './check-server.ts';
import { type GoProgram, goProgram } from './go-binaries.ts';

export const OPENFGA: GoProgram = {
  module: 'github.com/openfga/openfga',
  version: 'v1.18.1',
  main: 'cmd/openfga',
};

const TUPLES_PER_WRITE = 100;
const WRITES_AT_ONCE = 8;
const CONNECTIONS = '64';

const run = promisify(execFile);

const direct = { this: {} };
const of = (relation: string) => ({ computedUserset: { relation } });
const above = (relation: string) => ({
  tupleToUserset: { tupleset: { relation: 'parent' }, computedUserset: { relation } },
});
const anyOf = (...child: object[]) => ({ union: { child } });
const people = {
  directly_related_user_types: [
    { type: 'user' },
    { type: 'user', wildcard: {} },
    { type: 'group', relation: 'member' },
  ],
};

/** Relations that are inherited from parents, with those that imply them. */
const FLOWING = {
  owner: [],
  editor: ['owner'],
  viewer: ['editor'],
  can_read: ['viewer'],
  can_write: ['editor'],
} as const;

const things = (type: string) => ({
  type,
  relations: {
    parent: direct,
    ...Object.fromEntries(
      Object.entries(FLOWING).map(([relation, stronger]) => [
        relation,
        anyOf(direct, ...stronger.map(of), above(relation)),
      ]),
    ),
  },
  metadata: {
    relations: {
      parent: { directly_related_user_types: [{ type: 'folder' }] },
      ...Object.fromEntries(Object.keys(FLOWING).map((relation) => [relation, people])),
    },
  },
});

const MODEL = {
  schema_version: '1.1',
  type_definitions: [
    { type: 'user' },
    {
      type: 'group',
      relations: { member: direct },
      metadata: { relations: { member: people } },
    },
    things('folder'),
    things('document'),
  ],
};

const keyOf = (tuple: ReferenceTuple) => ({
  // A group as a subject means its members.
  user: `${tuple.user_type}:${tuple.user_id}${tuple.user_type === 'group' ? '#member' : ''}`,
  relation: tuple.relation,
  object: `${tuple.object_type}:${tuple.object_id}`,
});

/** With `cached`, an answer may be older than a write, as by default for ten seconds. */
export async function startOpenFga(
  context: BenchContext,
  tuples: Iterable<ReferenceTuple>,
  cached: boolean,
): Promise<CheckServer> {
  const program = await goProgram(OPENFGA);
  const database = await context.database();
  const url = new URL(database);
  url.searchParams.set('sslmode', 'disable');
  const key = randomBytes(16).toString('hex');
  const [http, grpc] = [await freePort(), await freePort()];
  const env = environmentOf({ database: url.href, key, http, grpc, cached });
  await run(program, ['migrate'], { env: { ...process.env, ...env } });
  const origin = `http://127.0.0.1:${http}`;
  const pid = await startServer(context, {
    program,
    args: ['run'],
    env,
    health: `${origin}/healthz`,
  });
  const headers = { authorization: `Bearer ${key}` };
  const post = (path: string, body: object, status = 200): LoadRequest => ({
    method: 'POST',
    path,
    headers,
    body: JSON.stringify(body),
    status,
  });
  const store = JSON.parse(await sent(origin, post('/stores', { name: 'bench' }, 201))) as {
    id: string;
  };
  const at = `/stores/${store.id}`;
  const { authorization_model_id } = JSON.parse(
    await sent(origin, post(`${at}/authorization-models`, MODEL, 201)),
  ) as { authorization_model_id: string };
  await pooled(chunksOf(tuples, TUPLES_PER_WRITE), WRITES_AT_ONCE, (chunk) =>
    sent(
      origin,
      post(`${at}/write`, { writes: { tuple_keys: chunk.map(keyOf) }, authorization_model_id }),
    ),
  );
  await analyze(database);
  const change = (what: 'writes' | 'deletes', tuple: ReferenceTuple, or: object) =>
    post(`${at}/write`, {
      [what]: { tuple_keys: [keyOf(tuple)], ...or },
      authorization_model_id,
    });
  return {
    name: cached ? 'OpenFGA with its caches' : 'OpenFGA',
    origin,
    pid,
    check: (question) =>
      post(`${at}/check`, { tuple_key: keyOf(question), authorization_model_id }),
    allowed: (answer) => (JSON.parse(answer) as { allowed?: boolean }).allowed === true,
    list: (question: Question) =>
      post(`${at}/list-objects`, {
        user: keyOf(question).user,
        relation: question.relation,
        type: question.object_type,
        authorization_model_id,
      }),
    listed: (answer) =>
      (JSON.parse(answer) as { objects: string[] }).objects.map((object) =>
        object.slice(object.indexOf(':') + 1),
      ),
    write: (tuple) => change('writes', tuple, { on_duplicate: 'ignore' }),
    delete: (tuple) => change('deletes', tuple, { on_missing: 'ignore' }),
  };
}

const environmentOf = (of: {
  readonly database: string;
  readonly key: string;
  readonly http: number;
  readonly grpc: number;
  readonly cached: boolean;
}) => ({
  OPENFGA_DATASTORE_ENGINE: 'postgres',
  OPENFGA_DATASTORE_URI: of.database,
  OPENFGA_DATASTORE_MAX_OPEN_CONNS: CONNECTIONS,
  OPENFGA_DATASTORE_MAX_IDLE_CONNS: CONNECTIONS,
  OPENFGA_AUTHN_METHOD: 'preshared',
  OPENFGA_AUTHN_PRESHARED_KEYS: of.key,
  OPENFGA_HTTP_ADDR: `127.0.0.1:${of.http}`,
  OPENFGA_GRPC_ADDR: `127.0.0.1:${of.grpc}`,
  OPENFGA_PLAYGROUND_ENABLED: 'false',
  OPENFGA_METRICS_ENABLED: 'false',
  OPENFGA_LOG_LEVEL: 'error',
  // Lists are compared completely, so their length is not limited.
  OPENFGA_LIST_OBJECTS_MAX_RESULTS: '0',
  OPENFGA_LIST_OBJECTS_DEADLINE: '60s',
  OPENFGA_REQUEST_TIMEOUT: '61s',
  OPENFGA_HTTP_UPSTREAM_TIMEOUT: '62s',
  OPENFGA_CHECK_QUERY_CACHE_ENABLED: String(of.cached),
  OPENFGA_CHECK_ITERATOR_CACHE_ENABLED: String(of.cached),
});
