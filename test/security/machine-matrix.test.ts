/**
 * Calls each endpoint as machines: as an owner with each scope alone and with none, and with the endpoint's own scope
 * in each role. Only the credential is sent, because a caller is refused before anything else is read.
 */
import { MACHINE_SCOPES } from '@cardea/contracts';
import { machineScopeOf } from '@cardea/http';
import { testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { catalogueOf, type Entry } from './catalogue.ts';
import { type Fortress, fortress } from './fortress.ts';
import { send, titleOf } from './sample.ts';
import { expectStatus } from './users.ts';

const ROLE_SETS = { 'no role': [], admin: ['admin'], owner: ['owner', 'admin'] } as const;
type Roles = keyof typeof ROLE_SETS;
const APPLICATIONS = '/api/v1/admin/applications';
const MATRIX_MS = 240_000;

const database = testDatabase();
let world: Fortress;
beforeAll(async () => {
  world = await fortress({ databaseUrl: database.url });
});
afterAll(async () => {
  await world?.stop();
});

/** Returns a function that gets a token of one scope, or of none, for a machine with these roles. */
async function machineOf(roles: readonly string[], machine_scopes: readonly string[]) {
  const owner = world.rest.as({ bearer: world.a.owner.access, tenant: world.a.tenantId });
  const fields = { name: 'CI', type: 'm2m', roles, machine_scopes };
  const made = await owner.post(APPLICATIONS, fields);
  expectStatus(made, 201);
  const { client_id, client_secret } = made.body;
  return async (scope?: string): Promise<string> => {
    const form = { grant_type: 'client_credentials', client_id, client_secret };
    const body = new URLSearchParams(scope === undefined ? form : { ...form, scope });
    const answer = await fetch(`${world.baseUrl}/oauth2/token`, { method: 'POST', body });
    const issued = (await answer.json()) as {
      readonly access_token: string;
      readonly scope?: string;
    };
    expect([answer.status, issued.scope || undefined]).toEqual([200, scope]);
    return issued.access_token;
  };
}

const LET_IN = 'let in';
/** Requires a second scope, `vault:grant`, before it looks up anything, because a key gives what the agent reaches. */
const WITH_GRANT = 'POST /api/v1/agents/{id}/keys/{key_id}/rotate';

/** The expected result, derived from the contract only. */
function expectedOf(entry: Entry, roles: Roles, scope: string | undefined) {
  const { contract } = entry.endpoint;
  const { who, machine = 'never' } = contract;
  if (who === 'anyone') return LET_IN;
  if (machine === 'never') return contract.notTaken?.client?.code ?? 'forbidden';
  const needed = machineScopeOf(contract);
  if (needed === undefined) return LET_IN;
  if (needed !== scope || titleOf(entry.endpoint) === WITH_GRANT) return 'insufficient_scope';
  if (who.some((caller) => caller.startsWith('api_key:'))) return LET_IN;
  const held: readonly string[] = ROLE_SETS[roles];
  return who.some((caller) => held.includes(caller)) ? LET_IN : 'forbidden';
}

async function got({ endpoint }: Entry, bearer: string) {
  const names = [...endpoint.contract.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const params = Object.fromEntries(names.map((name) => [name, 'nobody']));
  const as = { credentials: { bearer } };
  const { status, code } = await send(
    world,
    endpoint,
    { params },
    { as, tenant: world.a.tenantId },
  );
  // The vault's own envelope has its codes in capitals.
  return status === 401 || status === 403 ? code?.toLowerCase() : LET_IN;
}

it('standards 1 S1 each endpoint lets a machine in by its own scope and role, and by no other', {
  timeout: MATRIX_MS,
}, async () => {
  const tokens = new Map<string, string>();
  const keyOf = (roles: Roles, scope: string | undefined) => `${roles}, ${scope ?? 'no scope'}`;
  for (const roles of Object.keys(ROLE_SETS) as Roles[]) {
    const withAll = await machineOf(ROLE_SETS[roles], MACHINE_SCOPES);
    for (const scope of MACHINE_SCOPES) tokens.set(keyOf(roles, scope), await withAll(scope));
    tokens.set(keyOf(roles, undefined), await (await machineOf(ROLE_SETS[roles], []))());
  }
  const entries = catalogueOf(world).filter(({ endpoint }) => endpoint.contract.who !== 'anyone');
  const surprises: string[] = [];
  let letIn = 0;
  for (const entry of entries) {
    const own = machineScopeOf(entry.endpoint.contract);
    const cells: [Roles, string | undefined][] = [
      ...[undefined, ...MACHINE_SCOPES].map((scope): [Roles, string | undefined] => [
        'owner',
        scope,
      ]),
      ['no role', own],
      ['admin', own],
    ];
    const answers = cells.map(async ([roles, scope]) => {
      const expected = expectedOf(entry, roles, scope);
      const found = await got(entry, tokens.get(keyOf(roles, scope)) ?? '');
      if (found === LET_IN) letIn += 1;
      const cell = `${titleOf(entry.endpoint)} as ${keyOf(roles, scope)}`;
      if (found !== expected) surprises.push(`${cell}: ${expected} expected, got ${found}`);
    });
    await Promise.all(answers);
  }
  expect(surprises).toEqual([]);
  expect(letIn).toBeGreaterThan(entries.length / 2);
});
