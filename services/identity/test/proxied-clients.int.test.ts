/** The client's address is read from every form in which proxies send it, and is used wherever addresses count. */
import { contextLocation, type Sealed } from '@cardea/crypto';
import { describe, expect, it } from 'vitest';
import { claimsOf, identityOfFile, PASSWORD } from './identity-fixture.ts';

const { fixture, admin } = identityOfFile({
  RATE_LIMIT_FACTOR: '1',
  TRUSTED_PROXIES: '127.0.0.0/8,10.0.0.0/8,fd00::/8',
});

/** A client's `X-Forwarded-For`. `n` selects another client in the same form. */
type Form = { readonly name: string; readonly sent: (n: number) => string; readonly ip: Ip };
type Ip = (n: number) => string;
const v4: Ip = (n) => `198.51.100.${n}`;
const v6: Ip = (n) => `2001:db8:${n}::7`;
const FORMS: readonly Form[] = [
  { name: 'nginx: an address', sent: v4, ip: v4 },
  { name: 'nginx: what the client claimed, too', sent: (n) => `192.0.2.1, ${v4(n)}`, ip: v4 },
  { name: 'Azure: an address and its port', sent: (n) => `${v4(n)}:51234`, ip: v4 },
  { name: 'Azure: IPv6 in brackets with its port', sent: (n) => `[${v6(n)}]:443`, ip: v6 },
  { name: 'IPv6 in brackets', sent: (n) => `[${v6(n)}]`, ip: v6 },
  { name: 'Envoy: IPv6, and the proxy before it', sent: (n) => `${v6(n)},10.1.2.3`, ip: v6 },
  { name: 'several hops', sent: (n) => `8.8.8.8, ${v4(n)}:80, 10.1.2.3:8080, [fd00::1]:9`, ip: v4 },
];

const from = (forwarded: string) => ({
  tenant: admin.tenantId,
  headers: { 'x-forwarded-for': forwarded },
});
const logIn = (email: string, forwarded: string, password = PASSWORD) =>
  fixture.rest.post('/api/v1/auth/login', { email, password }, from(forwarded));

describe.each(FORMS)('behind proxies, $name [identity-24]', ({ sent, ip }) => {
  const number = () => FORMS.findIndex((form) => form.sent === sent) + 1;

  it('is the address of the session and of what the audit log is told', async () => {
    const before = await fixture.head();
    const answer = await logIn(admin.email, sent(number()));
    expect(answer.status).toBe(200);
    const { body } = await fixture.as(admin).get('/api/v1/me/sessions');
    const { sid } = claimsOf(answer.body.access_token);
    const session = body.sessions.find(({ id }: { id: string }) => id === sid);
    expect(session.ip_address).toBe(ip(number()));
    const events = await fixture.eventsSince(before);
    const started = events.find(({ streamId }) => streamId === `session-${sid}`);
    const { sealer } = fixture.host.needsOf('identity');
    const place = contextLocation(admin.tenantId, new Date(), 'ip');
    const written = await sealer.open(started?.metadata.ip as Sealed, place);
    expect(written).toBe(ip(number()));
  });

  it('is the address that a key of an agent is allowed from', async () => {
    const rest = fixture.as(admin);
    const services = [{ service_name: 'billing', fields: ['*'] }];
    const name = `agent ${number()}`;
    const agent = await rest.post('/api/v1/agents', {
      name,
      services,
      owner_user_id: admin.userId,
    });
    const client = ip(number());
    const keys = `/api/v1/agents/${agent.body.id}/keys`;
    const allowed_cidrs = [client.includes(':') ? `${client}/128` : `${client}/32`];
    const { key } = (await rest.post(keys, { name, allowed_cidrs })).body;
    const list = (forwarded: string) =>
      fixture.rest.get('/api/v1/agent/sessions', { ...from(forwarded), bearer: key });
    expect((await list(sent(number()))).status).toBe(200);
    expect((await list(sent(100 + number()))).status).toBe(401);
  });

  it('is the address whose failures are counted', async () => {
    const far = sent(50 + number());
    const wrong = () => logIn(`nobody.${Math.random()}@example.com`, far, 'wrong password');
    const statuses: number[] = [];
    for (let tries = 0; tries < 51; tries += 1) statuses.push((await wrong()).status);
    expect(statuses.slice(-1)).toEqual([429]);
    expect((await logIn(admin.email, sent(75 + number()))).status).toBe(200);
  });
});

describe('one client behind a proxy that writes ports [identity-24]', () => {
  it('is one client, whatever its port', async () => {
    const ip = '203.0.113.9';
    const statuses: number[] = [];
    for (let port = 40_000; port < 40_051; port += 1) {
      const email = `nobody.${port}@example.com`;
      statuses.push((await logIn(email, `${ip}:${port}`, 'wrong password')).status);
    }
    expect(statuses.slice(-1)).toEqual([429]);
    expect((await logIn(admin.email, '203.0.113.10:40000')).status).toBe(200);
  });
});
