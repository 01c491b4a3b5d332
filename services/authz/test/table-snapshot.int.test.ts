/**
 * The table engine reads a tenant's model and its rows in two statements. A change in between never leads to an answer
 * that was true at no moment. The engine answers from one snapshot or not at all.
 */
import { authzService } from '@cardea/authz';
import type { Database } from '@cardea/read-models';
import { systemClock } from '@cardea/runtime';
import { type ServiceFixture, serviceFixture, testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readAffected } from '../src/adapters/affected-tuples.ts';
import { subgraphs } from '../src/adapters/subgraph.ts';
import { evaluationsOf } from '../src/engine/evaluations.ts';
import { Work } from '../src/engine/work.ts';
import { readFields } from '../src/relations/relation.ts';
import type { Answered } from '../src/replicas/answered.ts';
import type { Engine } from '../src/replicas/engine.ts';
import { dryRuns, largeReads, tableEngine } from '../src/replicas/table-engine.ts';
import { adminOf, type FgaClient, tuple } from './fga-client.ts';

const MODEL = '/api/v1/fga/model';
/**
 * First readers may view a document, later only writers. At no moment of the change may a person who is only a reader
 * see a document.
 */
const doc = (sees: string) => ({
  user: {},
  doc: {
    relations: {
      reader: { direct: ['user'] },
      writer: { direct: ['user'] },
      sees: { union: [sees] },
    },
  },
});
const BEFORE = doc('reader');
const AFTER = doc('writer');
const SEES = tuple('user:ann sees doc:plan');

const database = testDatabase();
let fixture: ServiceFixture;
beforeAll(async () => {
  const options = { databaseUrl: database.url, definitions: [authzService] };
  fixture = await serviceFixture({ ...options, env: { AUTHZ_INDEX_MAX_BYTES: '0' } });
});
afterAll(async () => {
  await fixture?.stop();
});

const publish = async (fga: FgaClient, types: object, expected_version: number) => {
  const { status } = await fga.rest.put(MODEL, { expected_version, types });
  expect(status).toBe(200);
};

/**
 * The real engine on the real tables. Before it reads rows for the n-th time, `between` is called and its changes
 * arrive.
 */
function engineWith(tenantId: string, between: (reads: number) => Promise<void>) {
  const { database: tables, positions } = fixture.host.needsOf('authz');
  let reads = 0;
  const interrupted: Database = {
    ...tables,
    asTenantAtOnce: async (tenant, statements) => {
      reads += 1;
      await between(reads);
      return tables.asTenantAtOnce(tenant, statements);
    },
  };
  const evaluations = evaluationsOf(systemClock);
  const table = {
    ...{ positions, evaluations, largeReads: largeReads(systemClock) },
    bound: async () => 0n,
  };
  const affected = (
    of: Parameters<typeof readAffected>[1],
    changed: Parameters<typeof readAffected>[2],
  ) => readAffected(interrupted, of, changed);
  return {
    engine: tableEngine({ ...table, subgraphs: subgraphs(interrupted, evaluations.slices) }),
    dryRun: dryRuns({ ...table, affected }),
    asking: { tenantId, work: new Work(tenantId), atLeast: undefined },
    reads: () => reads,
  };
}
type World = ReturnType<typeof engineWith>;

/** The model and the tuples that a reader of the tables finds. Both arrive through the log. */
async function stored(tenantId: string) {
  const { rows } = await fixture.shared.database.system.query<{ version: number; tuples: number }>(
    `SELECT (SELECT max(version)::int FROM authz.models WHERE tenant_id = $1) AS version,
            (SELECT count(*)::int FROM authz.tuples WHERE tenant_id = $1) AS tuples`,
    [tenantId],
  );
  return rows[0];
}

async function tenantBefore(name: string): Promise<FgaClient> {
  const fga = adminOf(fixture, name);
  await publish(fga, BEFORE, 0);
  await untilTrue(async () => (await stored(name))?.version === 1);
  return fga;
}

/** Changes the model first and then the tuple. In between, Ann may not see the document either. */
async function change(fga: FgaClient, tenantId: string): Promise<void> {
  await publish(fga, AFTER, 1);
  expect((await fga.write('user:ann reader doc:plan')).status).toBe(201);
  await untilTrue(async () => {
    const now = await stored(tenantId);
    return now?.version === 2 && now.tuples === 1;
  });
}

const answerOf = <T>(answer: Answered<T>): T => {
  if ('unanswered' in answer) throw new Error(answer.unanswered);
  return answer.value;
};
const { object_id: _object, ...objectsAsked } = SEES;
const { user_id: _user, ...usersAsked } = SEES;
const fields = readFields(SEES);

const QUESTIONS: readonly {
  readonly name: string;
  readonly ask: (of: World) => Promise<unknown>;
  readonly never: unknown;
}[] = [
  {
    name: 'check',
    ask: async ({ engine, asking }) => answerOf(await engine.check(asking, fields)).allowed,
    never: true,
  },
  {
    name: 'explain',
    ask: async ({ engine, asking }) => answerOf(await engine.explain(asking, fields)).allowed,
    never: true,
  },
  {
    name: 'filter',
    ask: async ({ engine, asking }) => {
      const asked = { ...objectsAsked, object_ids: ['plan'] } as const;
      return answerOf(await engine.filter(asking, asked as Parameters<Engine['filter']>[1]));
    },
    never: [true],
  },
  {
    name: 'list-objects',
    ask: async ({ engine, asking }) =>
      answerOf(
        await engine.listObjects(asking, objectsAsked as Parameters<Engine['listObjects']>[1]),
      ),
    never: ['plan'],
  },
  {
    name: 'list-users',
    ask: async ({ engine, asking }) =>
      answerOf(await engine.listUsers(asking, usersAsked as Parameters<Engine['listUsers']>[1])),
    never: { ids: ['ann'], wildcard: false },
  },
  {
    // Allowing Ann to write also allows her to view, because she could not view before.
    name: 'dry-run',
    ask: async ({ dryRun, asking }) => {
      const writes = [readFields(tuple('user:ann writer doc:plan'))];
      const question = { batch: { writes, deletes: [] }, relations: [fields.relation], limit: 9 };
      return answerOf(await dryRun(asking, question)).total;
    },
    never: 0,
  },
];

describe('authz 23 a question to the table, while model and tuples change between its two reads,', () => {
  it.each(QUESTIONS)('is answered from one moment: $name', async ({ name, ask, never }) => {
    const tenant = `changed-${name}`;
    const fga = await tenantBefore(tenant);
    const world = engineWith(tenant, async (reads) => {
      if (reads === 1) await change(fga, tenant);
    });
    expect(await ask(world)).not.toEqual(never);
    // The engine read the rows of the later model.
    expect(world.reads()).toBe(2);
  });

  it('is answered not at all where each read meets another model', async () => {
    const tenant = 'restless';
    const fga = await tenantBefore(tenant);
    const { engine, asking } = engineWith(tenant, async (reads) => {
      await publish(fga, reads % 2 === 1 ? AFTER : BEFORE, reads);
      await untilTrue(async () => (await stored(tenant))?.version === reads + 1);
    });
    expect(await engine.check(asking, fields)).toEqual({ unanswered: 'not_caught_up' });
  });
});
