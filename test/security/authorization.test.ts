/** Who may call what, checked for every endpoint with every kind of caller. */
import { testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { access } from './access.ts';
import { type CallerName, type TestCaller, testCallers, type Verdict, verdict } from './callers.ts';
import { catalogueOf, type Entry, successOf } from './catalogue.ts';
import { type Fortress, fortress } from './fortress.ts';
import { machineRules } from './machine-rules.ts';
import { type Ask, send, titleOf } from './sample.ts';

const database = testDatabase();
let world: Fortress;
beforeAll(async () => {
  world = await fortress({ databaseUrl: database.url });
});
afterAll(async () => {
  await world?.stop();
});

it('S1 each endpoint takes whom the documents let in, and nobody else', () => {
  const contracts = world.host.endpoints.map(({ contract }) => ({
    title: titleOf({ contract }).replace('/api/v1', ''),
    who: contract.who === 'anyone' ? contract.who : contract.who.toSorted().join(' '),
    tenant: contract.tenant,
  }));
  const documented = contracts.map(({ title }) => {
    const right = access.find(([form]) => form.test(title))?.[1];
    return { title, tenant: right?.tenant, who: right?.who.split(' ').sort().join(' ') };
  });
  expect(contracts).toEqual(documented);
});

it('S1 each endpoint that takes a role or a key takes machines as the documents say', () => {
  const takesRoleOrKey = /\b(admin|owner|system_admin|api_key:\S+)/;
  const contracts = world.host.endpoints
    .filter(({ contract: { who } }) => who !== 'anyone' && takesRoleOrKey.test(who.join(' ')))
    .map(({ contract }) => {
      const title = titleOf({ contract }).replace('/api/v1', '');
      return { title, machine: contract.machine };
    });
  const documented = contracts.map(({ title }) => {
    return { title, machine: machineRules.find(([form]) => form.test(title))?.[1] };
  });
  expect(contracts).toEqual(documented);
});

it('S1 each endpoint answers each caller as its contract says', async () => {
  const surprises: string[] = [];
  for (const entry of catalogueOf(world)) surprises.push(...(await row(entry)));
  expect(surprises).toEqual([]);
});

it('S1 tells everyone without a credential the same', async () => {
  const bearers = [undefined, world.expired, 'x', 'svc_test_x', 'agk_live_x', `${world.expired}.`];
  const bodies = new Set<string>();
  for (const bearer of bearers) {
    const { status, text } = await world.rest.get('/api/v1/auth/me', { bearer });
    expect(status).toBe(401);
    bodies.add(text.replace(/"request_id":"[^"]+"/, ''));
  }
  expect(bodies.size).toBe(1);
});

it('S1 a token that shows a role which was taken opens nothing, in any service', async () => {
  const { rest, a } = world;
  const { tenantId: tenant } = a;
  const gone = await world.addUser(a.owner, ['admin']);
  const path = `/api/v1/admin/users/${gone.userId}`;
  const change = { bearer: a.owner.access, tenant };
  expect((await rest.patch(path, { roles: ['member'] }, change)).status).toBe(200);
  const opened: string[] = [];
  for (const { endpoint } of catalogueOf(world)) {
    if (endpoint.contract.who === 'anyone') continue;
    const names = [...endpoint.contract.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
    const params = Object.fromEntries(names.map((name) => [name, 'nobody']));
    const as = { credentials: { bearer: gone.access } };
    const { status } = await send(world, endpoint, { params }, { as, tenant });
    if (status !== 401) opened.push(`${titleOf(endpoint)}: ${status}`);
  }
  expect(opened).toEqual([]);
});

/** Public endpoints ignore every bearer: these few represent all. */
const SOME: readonly CallerName[] = ['none', 'forged', 'member of B', 'agent key'];

/** Sends the same request as each caller that is refused. That it then succeeds shows that no refusal had an effect. */
async function row(entry: Entry): Promise<readonly string[]> {
  const { endpoint, sample } = entry;
  const tenant = world.a.tenantId;
  const isPublic = endpoint.contract.who === 'anyone';
  const all = testCallers(world)
    .filter(({ name }) => !isPublic || SOME.includes(name))
    .map((who) => ({ who, expected: verdict(endpoint.contract, who, tenant) }));
  const surprises: string[] = [];
  const shared = await sample.ask(world);
  const refusals = all.map(({ who, expected }) =>
    expected.passes ? [] : refusedCell(entry, shared, { who, expected }),
  );
  surprises.push(...(await Promise.all(refusals)).flat());
  const rightful = all.find(({ who }) => who.name === sample.by)?.who;
  if (rightful === undefined) throw new Error(`nobody here is ${sample.by}`);
  surprises.push(...(await passingCell(entry, shared, rightful)));
  for (const { who, expected } of all) {
    if (!expected.passes || who === rightful) continue;
    surprises.push(...(await passingCell(entry, await sample.ask(world), who)));
  }
  return surprises;
}

async function refusedCell(
  { endpoint }: Entry,
  ask: Ask,
  {
    who,
    expected,
  }: { readonly who: TestCaller; readonly expected: Extract<Verdict, { passes: false }> },
): Promise<readonly string[]> {
  const answer = await send(world, endpoint, ask, { as: who, tenant: world.a.tenantId });
  const { status, code, body } = answer;
  const cell = `${titleOf(endpoint)} as ${who.name}`;
  if (status !== expected.status || code !== expected.code) {
    return [`${cell}: ${expected.status} ${expected.code} expected, got ${status} ${code}`];
  }
  return expected.scope === undefined || body.error.details?.scope === expected.scope
    ? []
    : [`${cell}: the scope ${expected.scope} is not named`];
}

async function passingCell(entry: Entry, ask: Ask, who: TestCaller): Promise<readonly string[]> {
  const { endpoint, sample } = entry;
  const tenant = world.a.tenantId;
  const { status, text } = await send(world, endpoint, ask, { as: who, tenant });
  const expected = sample.but?.[who.name] ?? successOf(entry);
  return status === expected
    ? []
    : [`${titleOf(endpoint)} as ${who.name}: ${expected} expected, got ${status} ${text}`];
}
