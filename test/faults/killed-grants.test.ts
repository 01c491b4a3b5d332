/** Grants of the token endpoint whose process is killed after the first of two effects. */
import { needRedis, processFixture, startRedis, testDatabase, untilTrue } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import {
  allow,
  deviceApplication,
  poll,
  requestDevice,
} from '../../services/identity/test/device-fixture.ts';
import { PASSWORD } from '../../services/identity/test/identity-fixture.ts';
import { browser } from '../../services/identity/test/oauth-fixture.ts';
import {
  exchangingAgent,
  NAMED_SERVICES,
  postTokenExchange,
  tokenExchangeForm,
} from '../../services/identity/test/token-exchange-fixture.ts';
import { type Instance, instance } from './instance.ts';

needRedis();
const fixture = processFixture();
const exchanges = testDatabase();
const devices = testDatabase();

/** The instance in the form in which the fixtures of identity describe a running product and its administrator. */
async function partyOf({ base: baseUrl, rest, admin }: Instance, issuer: string) {
  const { bearer: access, tenant: tenantId } = await admin();
  const as = (account: { readonly access: string; readonly tenantId: string }) =>
    rest.as({ bearer: account.access, tenant: account.tenantId });
  const root = { access, tenantId, userId: '', email: '', refresh: '' };
  return { party: { as, baseUrl, issuer }, root };
}
type AuditRow = { readonly [column: string]: unknown };
const VOLATILE = ['id', 'timestamp', 'target_id'];

describe('an agent whose exchange is killed after its session was started', () => {
  it('starts another one; the first has given no token away, and both are in the audit log like those of POST /agent/sessions [oauth 38]', async () => {
    const env: Record<string, string> = {
      DATABASE_URL: exchanges.url,
      CARDEA_FAILPOINT: 'exchange.after_start=kill',
    };
    const cardea = await instance(fixture, env);
    const doomed = await cardea.start();
    const before = await partyOf(cardea, cardea.base);
    const agent = await exchangingAgent(before.party, before.root);
    const ask = (subject: string, scope?: string) =>
      postTokenExchange(before.party, agent, tokenExchangeForm(subject, scope));
    await expect(ask(before.root.access)).rejects.toThrow();
    await doomed.ended;

    delete env['CARDEA_FAILPOINT'];
    const next = await cardea.start();
    const { root } = await partyOf(cardea, cardea.base);
    const own = cardea.rest.as({ bearer: agent.key, tenant: agent.tenantId });
    const listed = async () => (await own.get('/api/v1/agent/sessions')).body.data;
    const [orphan] = (await listed()).sessions;
    expect(orphan).toMatchObject({ status: 'active', services: NAMED_SERVICES });
    // The token whose exchange was killed still belongs to a live login.
    const granted = await ask(root.access);
    expect(granted, JSON.stringify(granted.body)).toMatchObject({ status: 200 });
    const refused = await ask(root.access, 'service:payroll');
    expect(refused.body.error).toBe('invalid_scope');
    const session = (services: object) =>
      own.post('/api/v1/agent/sessions', { services, subject_token: root.access });
    expect((await session(NAMED_SERVICES)).status).toBe(201);
    const payroll = [{ service_name: 'payroll', fields: ['token'] }];
    expect((await session(payroll)).code).toBe('scope_not_granted');
    expect((await listed()).total).toBe(3);
    const ended = await own.delete(`/api/v1/agent/sessions/${orphan.id}`);
    expect(ended.body).toEqual({ data: { status: 'ended' } });

    const admin = cardea.rest.as({ bearer: root.access, tenant: root.tenantId });
    const rowsOf = async (type: string, count: number): Promise<readonly AuditRow[]> =>
      untilTrue(
        async () => {
          const { events } = (await admin.get('/api/v1/audit/events', { query: { type } })).body;
          return events.length >= count ? events : undefined;
        },
        { what: `${count} rows ${type}` },
      );
    const compared = (row: AuditRow) =>
      Object.fromEntries(Object.entries(row).filter(([name]) => !VOLATILE.includes(name)));
    for (const [type, count] of [
      ['agent.session_started', 3],
      ['agent.denied', 2],
    ] as const) {
      const [first, ...others] = (await rowsOf(type, count)).map(compared);
      expect(others).toEqual(Array(count - 1).fill(first));
    }
    expect(await next.end('SIGTERM')).toBe(0);
  });
});

describe('a device whose poll is killed after its code was used up', () => {
  it('has to start again, and nobody was signed in by it [oauth 37]', async () => {
    const redis = await startRedis();
    fixture.onEnd(() => redis.kill());
    const issuer = 'http://127.0.0.1:65530';
    const env: Record<string, string> = {
      ...{ DATABASE_URL: devices.url, REDIS_URL: redis.url, ISSUER: issuer },
      CARDEA_FAILPOINT: 'device.after_consume=kill',
    };
    const cardea = await instance(fixture, env);
    const doomed = await cardea.start();
    const { party, root } = await partyOf(cardea, issuer);
    const email = 'device@example.com';
    const body = { email, password: PASSWORD, email_verified: true };
    expect((await party.as(root).post('/api/v1/admin/users', body)).status).toBe(201);
    const device = await deviceApplication(party, root);
    const request = await requestDevice(party, device);
    await allow(browser(party), { user_code: request.user_code, account: { email } });
    await expect(poll(party, device, request)).rejects.toThrow();
    await doomed.ended;

    delete env['CARDEA_FAILPOINT'];
    const next = await cardea.start();
    const again = await untilTrue(async () => {
      const answer = await poll(party, device, request);
      return answer.body.error === 'slow_down' ? undefined : answer;
    });
    expect([again.status, again.body.error]).toEqual([400, 'invalid_grant']);
    const signIn = { tenant: root.tenantId };
    const login = await cardea.rest.post(
      '/api/v1/auth/login',
      { email, password: PASSWORD },
      signIn,
    );
    const person = cardea.rest.as({ bearer: login.body.access_token, tenant: root.tenantId });
    const { sessions } = (await person.get('/api/v1/me/sessions')).body;
    // These are the sign-in at the hosted page and the one just now. The device has no session.
    expect(sessions).toHaveLength(2);
    const second = await requestDevice(party, device);
    await allow(browser(party), { user_code: second.user_code, account: { email } });
    expect(await poll(party, device, second)).toMatchObject({ status: 200 });
    expect(await next.end('SIGTERM')).toBe(0);
  });
});
