/** Clients cannot set fields that are not theirs: each write refuses them. */
import type { Endpoint } from '@cardea/http';
import { testDatabase } from '@cardea/testing';
import type { TSchema } from 'typebox';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inCodesOf, testCallers } from './callers.ts';
import { catalogueOf, type Entry, successOf } from './catalogue.ts';
import { type Fortress, fortress } from './fortress.ts';
import { send, titleOf } from './sample.ts';

const database = testDatabase();
let world: Fortress;
beforeAll(async () => {
  world = await fortress({ databaseUrl: database.url });
});
afterAll(async () => {
  await world?.stop();
});

const READ_ONLY: { readonly [field: string]: unknown } = {
  id: '0197f0f0-0000-7000-8000-000000000001',
  user_id: 'somebody-else',
  tenant_id: 'another-tenant',
  org_id: 'another-organization',
  roles: ['system_admin'],
  email_verified: true,
  status: 'active',
  created_at: '2020-01-01T00:00:00.000Z',
  updated_at: '2020-01-01T00:00:00.000Z',
  secret: 'chosen-by-the-client',
  responded_by: 'somebody-else',
  isAdmin: true,
};

it('S4 a write refuses each field that it does not take, and then does what it would have done', async () => {
  const surprises: string[] = [];
  for (const entry of catalogueOf(world)) {
    const { method, response } = entry.endpoint.contract;
    // A server ignores parameters that it does not know (RFC 6749, 3.1 and 3.2; RFC 7662, 2.1).
    if (method === 'get' || response?.errors === 'oauth') continue;
    surprises.push(...(await row(entry)));
  }
  expect(surprises).toEqual([]);
});

async function row(entry: Entry): Promise<readonly string[]> {
  const { endpoint, sample } = entry;
  const { contract } = endpoint;
  const own = fieldsOf(contract.body);
  const ask = await sample.ask(world);
  const as = testCallers(world).find(({ name }) => name === sample.by);
  const tenant = world.a.tenantId;
  const surprises: string[] = [];
  for (const [field, value] of Object.entries(READ_ONLY)) {
    if (own.has(field)) continue;
    const body = { ...ask.body, [field]: value };
    const { status, code, text } = await send(world, endpoint, { ...ask, body }, { as, tenant });
    if (status !== 400 || code !== inCodesOf(contract, 'invalid_request')) {
      surprises.push(`${titleOf(endpoint)} with ${field}: 400 expected, got ${status} ${text}`);
    }
  }
  const { status, text } = await send(world, endpoint, ask, { as, tenant });
  const expected = successOf(entry);
  if (status !== expected)
    surprises.push(`${titleOf(endpoint)}: ${expected} expected, got ${status} ${text}`);
  return surprises;
}

/** The top-level names that a body may have. */
function fieldsOf(schema: Endpoint['contract']['body']): ReadonlySet<string> {
  const { properties = {}, anyOf = [] } = (schema ?? {}) as {
    properties?: { [name: string]: TSchema };
    anyOf?: readonly TSchema[];
  };
  return new Set([...Object.keys(properties), ...anyOf.flatMap((each) => [...fieldsOf(each)])]);
}
