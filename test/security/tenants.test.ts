/** Each tenant sees only itself: the header, ids of others, and all answers. */
import { request as httpRequest } from 'node:http';
import type { Endpoint } from '@cardea/http';
import { numberedId, testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inCodesOf, type TestCaller, testCallers } from './callers.ts';
import { catalogueOf, type Entry, successOf } from './catalogue.ts';
import { type Fortress, fortress } from './fortress.ts';
import { type Ids, references } from './references.ts';
import { type Ask, pathOf, send, titleOf } from './sample.ts';

const database = testDatabase();
let world: Fortress;
let everyone: readonly TestCaller[];
beforeAll(async () => {
  world = await fortress({ databaseUrl: database.url });
  everyone = testCallers(world);
});
afterAll(async () => {
  await world?.stop();
});

const named = (name: string): TestCaller => {
  const found = everyone.find((each) => each.name === name);
  if (found === undefined) throw new Error(`nobody here is ${name}`);
  return found;
};

it('S2 the tenant header is there, once, and the caller’s own, or the endpoint says why not', async () => {
  const surprises: string[] = [];
  for (const entry of catalogueOf(world)) surprises.push(...(await headerRow(entry)));
  expect(surprises).toEqual([]);
});

it('S2 an id of another tenant is an id that nobody has', async () => {
  const surprises: string[] = [];
  for (const entry of catalogueOf(world)) surprises.push(...(await foreignRow(entry)));
  expect(surprises).toEqual([]);
});

it('S2 an id of another tenant in query or body is an id that nobody has', async () => {
  const surprises: string[] = [];
  for (const { operation, by, ask } of references) {
    const entry = catalogueOf(world).find(({ endpoint }) => endpoint.contract.name === operation);
    if (entry === undefined) throw new Error(`there is no ${operation}`);
    const asked = { as: counterpart(by), tenant: world.b.tenantId };
    const foreign = await send(world, entry.endpoint, ask(await idsOfA()), asked);
    const unknown = await send(world, entry.endpoint, ask(IDS_OF_NOBODY), asked);
    const isSame = withoutRequestId(foreign.text) === withoutRequestId(unknown.text);
    if (foreign.status !== unknown.status || !isSame) {
      surprises.push(`${operation} by ${by}: ${foreign.text}, but ${unknown.text}`);
    }
  }
  expect(surprises).toEqual([]);
});

it('S2 no answer to one tenant holds anything of another', async () => {
  const { a, b } = world;
  const secrets = [a.tenantId, a.publishableKey];
  for (const { userId, email } of [a.owner, a.admin, a.member]) secrets.push(userId, email);
  const leaks: string[] = [];
  for (const { endpoint, sample } of catalogueOf(world)) {
    const { contract } = endpoint;
    if (contract.method !== 'get' || contract.path.includes('{') || contract.who === 'anyone')
      continue;
    const ask = await sample.ask(world);
    const as = counterpart(sample.by);
    const { text } = await send(world, endpoint, ask, { as, tenant: b.tenantId });
    leaks.push(...secrets.filter((secret) => text.includes(secret)).map(() => titleOf(endpoint)));
  }
  expect(leaks).toEqual([]);
});

/**
 * Sends refused forms of the header first, all with the same request. If the request then succeeds, none of them had an
 * effect.
 */
async function headerRow(entry: Entry): Promise<readonly string[]> {
  const { endpoint, sample } = entry;
  const { contract } = endpoint;
  const isPublic = contract.who === 'anyone';
  if (isPublic && contract.tenant === 'none') return [];
  const ask = await sample.ask(world);
  const as = named(sample.by);
  const surprises: string[] = [];
  const expectAnswer = async (form: string, tenants: readonly string[], code: string) => {
    const answer = await rawSend(endpoint, ask, { as, tenants });
    if (answer.code !== inCodesOf(contract, code)) {
      surprises.push(
        `${titleOf(endpoint)} with a tenant header ${form}: ${code} expected, got ${answer.status} ${answer.text}`,
      );
    }
  };
  const own = world.a.tenantId;
  await expectAnswer('twice', [own, own], 'tenant_required');
  await expectAnswer('twice, other', [own, world.b.tenantId], 'tenant_required');
  await expectAnswer('joined', [`${own}, ${own}`], 'tenant_required');
  await expectAnswer('empty', [''], 'tenant_required');
  if (contract.tenant === 'required') await expectAnswer('missing', [], 'tenant_required');
  if (!isPublic) {
    await expectAnswer('of B', [world.b.tenantId], 'tenant_mismatch');
    await expectAnswer('of nobody', ['no-such-tenant'], 'tenant_mismatch');
  }
  const tenants = contract.tenant === 'required' ? [own] : [];
  const { status, text } = await rawSend(endpoint, ask, { as, tenants });
  // Register gets the tenant from the header or from a key, and its sample has no key.
  const expected = contract.name === 'register' ? 400 : successOf(entry);
  if (status !== expected)
    surprises.push(`${titleOf(endpoint)}: ${expected} expected, got ${status} ${text}`);
  return surprises;
}

const IDS_OF_NOBODY: Ids = {
  userId: numberedId(1),
  agentId: numberedId(2),
  sessionId: numberedId(3),
  webhookId: numberedId(4),
};

async function idsOfA(): Promise<Ids> {
  const { member, agentsAndKeys } = world.a;
  const { agent } = agentsAndKeys;
  const hook = catalogueOf(world).find(({ endpoint }) => endpoint.contract.name === 'test_webhook');
  const { params } = (await hook?.sample.ask(world)) ?? {};
  const webhookId = params?.['id'] ?? '';
  return { userId: member.userId, agentId: agent.id, sessionId: agent.sessionId, webhookId };
}

/** Sends the same request as B, once with A's ids and once with ids that nobody has. */
async function foreignRow({ endpoint, sample }: Entry): Promise<readonly string[]> {
  if (!endpoint.contract.path.includes('{') || endpoint.contract.who === 'anyone') return [];
  const ask = await sample.ask(world);
  const as = counterpart(sample.by);
  const params = Object.fromEntries(
    Object.entries(ask.params ?? {}).map(([name, id]) => [name, alike(id)]),
  );
  const tenant = world.b.tenantId;
  const foreign = await send(world, endpoint, ask, { as, tenant });
  const unknown = await send(world, endpoint, { ...ask, params }, { as, tenant });
  const isSame = withoutRequestId(foreign.text) === withoutRequestId(unknown.text);
  const expected = sample.unknown ?? 404;
  return foreign.status === expected && unknown.status === expected && isSame
    ? []
    : [
        `${titleOf(endpoint)}: foreign ${foreign.status} ${foreign.text}, unknown ${unknown.status} ${unknown.text}`,
      ];
}

/** The caller who has in B the right that this caller has in A. */
function counterpart(name: string): TestCaller {
  const { b } = world;
  const there = { 'system admin': b.owner, owner: b.owner, admin: b.admin, member: b.member }[name];
  const credentials = there === undefined ? undefined : { bearer: there.access };
  const agent = b.agentsAndKeys.agent;
  const ofAgent: { readonly [name: string]: TestCaller['credentials'] | undefined } = {
    'agent token': { bearer: agent.token },
    'agent key': { bearer: agent.key },
    'agent key with capability': {
      bearer: agent.key,
      headers: { 'x-service-token': agent.capability },
    },
  };
  const found = credentials ?? ofAgent[name];
  if (found === undefined) throw new Error(`${name} has no counterpart`);
  return { ...named(name), tenantId: b.tenantId, credentials: found };
}

/** An id of the same form, with its last characters changed. */
const alike = (id: string): string =>
  id
    .replaceAll(/[0-9a-zA-Z](?=.{0,7}$)/g, (letter) => (/[0-9]/.test(letter) ? '9' : 'z'))
    .replace(/z/g, 'a');

const withoutRequestId = (text: string): string => text.replace(/"request_id":"[^"]+"/, '');

type Raw = { readonly as: TestCaller; readonly tenants: readonly string[] };

/** Headers as lines, because `fetch` would join two of the same name. */
function rawSend(
  endpoint: Endpoint,
  ask: Ask,
  { as, tenants }: Raw,
): Promise<{ status: number; text: string; code: string | undefined }> {
  const url = new URL(pathOf(endpoint, ask), world.baseUrl);
  for (const [name, value] of Object.entries(ask.query ?? {})) url.searchParams.set(name, value);
  const { bearer, headers } = as.credentials;
  const lines = [
    ...(bearer === undefined ? [] : ['authorization', `Bearer ${bearer}`]),
    ...Object.entries({ ...ask.headers, ...headers }).flat(),
    ...tenants.flatMap((tenant) => ['X-Service-Tenant', tenant]),
    ...(ask.body === undefined ? [] : ['content-type', 'application/json']),
  ];
  const body = ask.body === undefined ? '' : JSON.stringify(ask.body);
  const method = endpoint.contract.method.toUpperCase();
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      url,
      {
        method,
        headers: ['host', url.host, ...lines, 'content-length', String(Buffer.byteLength(body))],
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const isJson = /\bjson\b/.test(response.headers['content-type'] ?? '');
          const code = isJson ? JSON.parse(text).error?.code : undefined;
          resolve({ status: response.statusCode ?? 0, text, code });
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
