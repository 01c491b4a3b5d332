/** SpiceDB with PostgreSQL, and section 1 of `docs/design/authz.md` as its schema. */
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
  sent,
  startServer,
} from './check-server.ts';
import { type GoProgram, goProgram } from './go-binaries.ts';

export const SPICEDB: GoProgram = {
  module: 'github.com/authzed/spicedb',
  version: 'v1.56.0',
  main: 'cmd/spicedb',
};

const TUPLES_PER_WRITE = 1_000;
const WRITES_AT_ONCE = 4;

const run = promisify(execFile);

const things = (type: string) => `definition ${type} {
  relation parent: folder
  relation direct_owner: user | user:* | group#member
  relation direct_editor: user | user:* | group#member
  relation direct_viewer: user | user:* | group#member
  relation direct_can_read: user | user:* | group#member
  relation direct_can_write: user | user:* | group#member
  permission owner = direct_owner + parent->owner
  permission editor = direct_editor + owner + parent->editor
  permission viewer = direct_viewer + editor + parent->viewer
  permission can_read = direct_can_read + viewer + parent->can_read
  permission can_write = direct_can_write + editor + parent->can_write
}
`;
// `user:*` cannot be a member here, because it would stand inside `group#member`.
const SCHEMA = `definition user {}
definition group {
  relation member: user | group#member
}
${things('folder')}${things('document')}`;

const NAMED_AS_STORED = new Set(['member', 'parent']);

const object = (objectType: string, objectId: string) => ({ objectType, objectId });
const subject = (type: string, id: string) => ({
  object: object(type, id),
  ...(type === 'group' ? { optionalRelation: 'member' } : {}),
});
const relationshipOf = (tuple: ReferenceTuple) => ({
  resource: object(tuple.object_type, tuple.object_id),
  relation: NAMED_AS_STORED.has(tuple.relation) ? tuple.relation : `direct_${tuple.relation}`,
  // A group as a subject means its members; a parent is the folder itself.
  subject: subject(tuple.user_type, tuple.user_id),
});

/** With `cached`, an answer may be older than a write, as by default. */
export async function startSpiceDb(
  context: BenchContext,
  tuples: Iterable<ReferenceTuple>,
  cached: boolean,
): Promise<CheckServer> {
  const program = await goProgram(SPICEDB);
  const database = await context.database();
  const url = new URL(database);
  url.searchParams.set('sslmode', 'disable');
  const key = randomBytes(16).toString('hex');
  const http = await freePort();
  const storage = ['--datastore-engine=postgres', `--datastore-conn-uri=${url.href}`];
  const quiet = ['--log-level=error', '--skip-release-check'];
  await run(program, ['datastore', 'migrate', 'head', ...storage, ...quiet]);
  const origin = `http://127.0.0.1:${http}`;
  const pid = await startServer(context, {
    program,
    args: ['serve', ...storage, ...quiet, ...(await listeningOn(http)), ...served(key, cached)],
    env: {},
    health: `${origin}/healthz`,
  });
  const post = (path: string, body: object): LoadRequest => ({
    method: 'POST',
    path,
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
    status: 200,
  });
  const change = (operation: string, of: readonly ReferenceTuple[]) =>
    post('/v1/relationships/write', {
      updates: of.map((tuple) => ({
        operation: `OPERATION_${operation}`,
        relationship: relationshipOf(tuple),
      })),
    });
  await sent(origin, post('/v1/schema/write', { schema: SCHEMA }));
  await pooled(chunksOf(tuples, TUPLES_PER_WRITE), WRITES_AT_ONCE, (chunk) =>
    sent(origin, change('TOUCH', chunk)),
  );
  await analyze(database);
  const consistency = cached ? { minimizeLatency: true } : { fullyConsistent: true };
  return {
    name: cached ? 'SpiceDB with its caches' : 'SpiceDB',
    origin,
    pid,
    check: (question) =>
      post('/v1/permissions/check', {
        consistency,
        resource: object(question.object_type, question.object_id),
        permission: question.relation,
        subject: subject(question.user_type, question.user_id),
      }),
    allowed: (answer) => answer.includes('"PERMISSIONSHIP_HAS_PERMISSION"'),
    list: (question) =>
      post('/v1/permissions/resources', {
        consistency,
        resourceObjectType: question.object_type,
        permission: question.relation,
        subject: subject(question.user_type, question.user_id),
      }),
    listed: (answer) =>
      answer
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => {
          const { result } = JSON.parse(line) as { result?: { resourceObjectId: string } };
          if (result === undefined) throw new Error('SpiceDB ended a list early');
          return result.resourceObjectId;
        }),
    write: (tuple) => change('TOUCH', [tuple]),
    delete: (tuple) => change('DELETE', [tuple]),
  };
}

const listeningOn = async (http: number): Promise<readonly string[]> => [
  `--grpc-addr=127.0.0.1:${await freePort()}`,
  '--http-enabled',
  `--http-addr=127.0.0.1:${http}`,
  `--metrics-addr=127.0.0.1:${await freePort()}`,
];

const served = (key: string, cached: boolean): readonly string[] => [
  `--grpc-preshared-key=${key}`,
  '--telemetry-endpoint=',
  `--write-relationships-max-updates-per-call=${TUPLES_PER_WRITE}`,
  `--dispatch-cache-enabled=${cached}`,
  `--dispatch-cluster-cache-enabled=${cached}`,
];
