/** How often a session may vend and refresh, and which refusals are recorded. */
import { testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newTenant, type VaultFixture, vaultFixture } from './fixture.ts';

const database = testDatabase();
let fixture: VaultFixture;
beforeAll(async () => {
  fixture = await vaultFixture(database.url, { env: { VAULT_SESSION_RATE: '20' } });
});
afterAll(async () => {
  await fixture?.stop();
});

/** More than the rate allows in the time that a busy machine takes for them. */
const AT_ONCE = 400;

const policy = async (tenantId: string, effect: string) => {
  const body = { name: 'p', service_name: 'db', fields: '*', agent_ids: '*', effect };
  const made = await fixture.admin(tenantId).post('/api/v1/vault/approval-policies', body);
  expect(made.status).toBe(201);
};

describe('vending too often', () => {
  it('vault 1 row 6 stops a session that asks too fast, before its body is looked at', async () => {
    const tenantId = newTenant();
    await fixture.keep(tenantId);
    const session = fixture.session({ tenantId });
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, () => session.vend({ fields: [] })),
    );
    const codes = answers.map(({ code }) => code);
    expect(new Set(codes)).toEqual(new Set(['INVALID_REQUEST', 'RATE_LIMITED']));
    expect(codes.filter((code) => code === 'INVALID_REQUEST').length).toBeGreaterThanOrEqual(40);
    expect((await fixture.session({ tenantId }).vend()).status).toBe(200);
  });

  it('vault 1 rows 12 and 13: ten forced refreshes a minute, counted before anyone is asked', async () => {
    const tenantId = newTenant();
    await fixture.keep(tenantId);
    const session = fixture.session({ tenantId });
    const forced = [];
    for (let at = 0; at < 11; at += 1) forced.push(await session.vend({ force_refresh: true }));
    expect(forced.map(({ status }) => status)).toEqual([...Array(10).fill(200), 429]);
    expect(forced[10]?.code).toBe('RATE_LIMITED');
    const wait = Number(forced[10]?.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(30);
    expect(wait).toBeLessThanOrEqual(60);
    await policy(tenantId, 'require_approval');
    expect((await session.vend({ force_refresh: true })).code).toBe('RATE_LIMITED');
    await policy(tenantId, 'deny');
    expect((await session.vend()).code).toBe('POLICY_DENIED');
  });

  it('writes down what it refuses, and names nothing that is not registered', async () => {
    const tenantId = newTenant();
    await fixture.keep(tenantId);
    const session = fixture.session({ tenantId });
    await session.vend({ service_name: 'a name that was sent' });
    await session.vend({ fields: ['password', 'a field that was sent'] });
    // A refusal is answered after at most a quarter of a second, whether or not it was recorded by then.
    const refused = await untilTrue(async () => {
      const all = (await fixture.eventsOf(tenantId)).filter(({ type }) => type === 'VendRefused');
      return all.length >= 2 ? all : undefined;
    });
    const said = refused.map(({ data }) => [data['code'], data['service_name'], data['fields']]);
    expect(said.sort().reverse()).toEqual([
      ['NOT_FOUND', null, null],
      ['CREDENTIAL_SCOPE_DENIED', 'db', ['password']],
    ]);
    expect(refused.map(({ metadata }) => metadata.actor)).toEqual(
      Array(2).fill({ type: 'agent', id: session.agentId }),
    );
  });
});
