/**
 * .NET and SQL Server print UUIDs in capitals: each endpoint finds what such an id names, and answers in lower case.
 */
import { testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestCaller, testCallers } from './callers.ts';
import { catalogueOf, type Entry, successOf } from './catalogue.ts';
import { type Fortress, fortress } from './fortress.ts';
import { type Ids, references } from './references.ts';
import { type Ask, send, titleOf } from './sample.ts';
import { expectStatus } from './users.ts';

const database = testDatabase();
let world: Fortress;
beforeAll(async () => {
  world = await fortress({ databaseUrl: database.url });
});
afterAll(async () => {
  await world?.stop();
});

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;
const inCapitals = (text: string): string => text.replaceAll(UUID, (id) => id.toUpperCase());
/** Ids with at least one letter, whose case can be distinguished. */
const capitalsIn = (text: string): readonly string[] =>
  (text.match(UUID) ?? []).filter((id) => id !== id.toLowerCase());

const callerOf = (name: string): TestCaller => {
  const found = testCallers(world).find((each) => each.name === name);
  if (found === undefined) throw new Error(`nobody here is ${name}`);
  return found;
};

/** The ids of objects in a tenant's own authorization model are text whose case matters. */
const hasOwnIds = ({ endpoint }: Entry): boolean =>
  endpoint.contract.path.startsWith('/api/v1/fga');

const withIdsInCapitals = ({ params, query, body, ...rest }: Ask, entry: Entry): Ask => ({
  ...rest,
  ...(params === undefined ? {} : { params: capitalFields(params) }),
  ...(query === undefined ? {} : { query: hasOwnIds(entry) ? query : capitalFields(query) }),
  ...(body === undefined ? {} : { body: hasOwnIds(entry) ? body : capitalFields(body) }),
});

/** Tokens contain ids too, and are compared unchanged. */
function capitalFields<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(capitalFields) as Value;
  if (value === null || typeof value !== 'object') return value;
  const fields = Object.entries(value).map(([name, field]) => [
    name,
    /(?:^|_)ids?$/.test(name) ? capitalIds(field) : capitalFields(field),
  ]);
  return Object.fromEntries(fields);
}
function capitalIds(field: unknown): unknown {
  if (Array.isArray(field)) return field.map(capitalIds);
  return typeof field === 'string' ? inCapitals(field) : field;
}

describe('ids in capitals [identity 19]', () => {
  it('name the same in paths, queries, bodies and the header of the tenant', async () => {
    const surprises: string[] = [];
    for (const entry of catalogueOf(world)) {
      const { endpoint, sample } = entry;
      const ask = withIdsInCapitals(await sample.ask(world), entry);
      const tenant = inCapitals(world.a.tenantId);
      const { status, text } = await send(world, endpoint, ask, {
        as: callerOf(sample.by),
        tenant,
      });
      if (status !== successOf(entry)) {
        surprises.push(`${titleOf(endpoint)}: ${successOf(entry)} expected, got ${status} ${text}`);
      }
      surprises.push(...capitalsIn(text).map((id) => `${titleOf(endpoint)} answers ${id}`));
    }
    expect(surprises).toEqual([]);
  });

  it('refer to the same in queries and bodies', async () => {
    const surprises: string[] = [];
    const ids = await idsOfA();
    for (const { operation, by, ask } of references) {
      const entry = catalogueOf(world).find(({ endpoint }) => endpoint.contract.name === operation);
      if (entry === undefined) throw new Error(`there is no ${operation}`);
      const sent = { as: callerOf(by), tenant: world.a.tenantId };
      const lower = await send(world, entry.endpoint, named(ask(ids), 'lower'), sent);
      const capitals = withIdsInCapitals(named(ask(ids), 'capitals'), entry);
      const upper = await send(world, entry.endpoint, capitals, sent);
      const isSame =
        upper.status === lower.status && withoutNew(upper.text) === withoutNew(lower.text);
      if (!isSame || capitalsIn(upper.text).length > 0) {
        surprises.push(`${operation} by ${by}: ${upper.text}, but ${lower.text}`);
      }
    }
    expect(surprises).toEqual([]);
  });

  it('narrow a list to the same application', async () => {
    const { owner, tenantId: tenant } = world.a;
    const made = await world.rest.post(
      '/api/v1/admin/applications',
      { name: 'Shop', type: 'web' },
      { bearer: owner.access, tenant },
    );
    expectStatus(made, 201);
    const ofApp = (appId: string) => ({
      ...{ bearer: owner.access, tenant },
      headers: { 'x-service-app-id': appId },
    });
    const hook = { url: world.receiver.url, events: ['user.deleted'] };
    const own = ofApp(inCapitals(made.body.id));
    const webhook = await world.rest.post('/api/v1/webhooks', hook, own);
    expectStatus(webhook, 201);
    const { body } = await world.rest.get('/api/v1/webhooks', ofApp(made.body.id));
    expect(body.webhooks.map(({ id }: { id: string }) => id)).toEqual([webhook.body.id]);
  });

  it('find the audit rows of an actor and of a target', async () => {
    const { owner, tenantId: tenant } = world.a;
    const admin = world.rest.as({ bearer: owner.access, tenant });
    const of = async (query: { readonly [name: string]: string }) => {
      const { body } = await admin.get('/api/v1/audit/events', { query: { ...query, to: NOW } });
      return body.events.map(({ id }: { id: string }) => id);
    };
    const NOW = new Date().toISOString();
    for (const [field, id] of [
      ['actor_id', owner.userId],
      ['target_id', world.a.agentsAndKeys.agent.id],
    ] as const) {
      const found = await of({ [field]: id });
      expect(found).not.toEqual([]);
      expect(await of({ [field]: inCapitals(id) })).toEqual(found);
    }
  });
});

async function idsOfA(): Promise<Ids> {
  const { member, agentsAndKeys } = world.a;
  const { agent } = agentsAndKeys;
  const hook = catalogueOf(world).find(({ endpoint }) => endpoint.contract.name === 'test_webhook');
  const { params } = (await hook?.sample.ask(world)) ?? {};
  const webhookId = params?.['id'] ?? '';
  return { userId: member.userId, agentId: agent.id, sessionId: agent.sessionId, webhookId };
}

/** Uses another name if a second object of the same name would be refused. */
const named = ({ body, ...ask }: Ask, name: string): Ask => ({
  ...ask,
  ...(body === undefined ? {} : { body: 'name' in body ? { ...body, name } : body }),
});

/** Removes what is new in each response. */
const withoutNew = (text: string): string =>
  text
    .replaceAll(/"(?:id|request_id|approval_id|name|binding_code|[a-z_]*token)":"[^"]*"/g, '')
    .replaceAll(/"\d{4}-\d{2}-\d{2}T[^"]*"/g, '');
