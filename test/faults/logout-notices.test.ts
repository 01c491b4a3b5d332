/** A process is killed between the end of a session and its notice, or before it records what it sent. */
import { createServer } from 'node:http';
import { processFixture, testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  authorized,
  type OAuthParty,
  type TestClient,
} from '../../services/identity/test/oauth-fixture.ts';
import { ADMIN, instance } from './instance.ts';

const fixture = processFixture();
/** Each instance has separate secrets, and therefore a separate database. */
const databases = [testDatabase(), testDatabase()] as const;
/** The lease of a notice whose process died after sending it, plus the time of a start. */
const AGAIN_MS_MAX = 120_000;
const tokens: string[] = [];
const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  tokens.push(new URLSearchParams(Buffer.concat(chunks).toString()).get('logout_token') ?? '');
  response.writeHead(204).end();
});
beforeAll(() => new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening)));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

it.each([
  ['logout.after_revoke', 1],
  ['logout.after_send', 2],
])(
  'a logout notice whose process was killed at %s comes after the start, %i in all [oauth 35]',
  async (point, times) => {
    const env: Record<string, string> = {
      DATABASE_URL: databases[times - 1]?.url ?? '',
      CARDEA_FAILPOINT: `${point}=kill`,
    };
    const cardea = await instance(fixture, env);
    const doomed = await cardea.start();
    const admin = cardea.rest.as(await cardea.admin());
    const { port } = server.address() as { port: number };
    const client = await admin.post('/api/v1/admin/applications', {
      ...{ name: 'Shop', type: 'spa', redirect_uris: ['http://127.0.0.1:9/callback'] },
      ...{ first_party: true, grant_types: ['authorization_code'] },
      backchannel_logout_uri: `http://127.0.0.1:${port}/`,
    });
    expect(client.status).toBe(201);
    const { issuer } = (await cardea.rest.get('/.well-known/openid-configuration')).body;
    const party = { baseUrl: cardea.base, issuer } as OAuthParty;
    const { id_token } = await authorized(party, {
      client: client.body as TestClient,
      account: ADMIN,
      password: ADMIN.password,
    });
    const { sid } = claimsOf(id_token);
    const came = () => tokens.map(claimsOf).filter((claims) => claims.sid === sid);
    // The process may die before it has answered.
    await admin.delete(`/api/v1/me/sessions/${sid}`).catch(() => undefined);
    await doomed.ended;
    expect(came()).toHaveLength(times - 1);
    delete env['CARDEA_FAILPOINT'];
    const next = await cardea.start();
    await untilTrue(() => came().length === times, {
      what: 'the notice',
      deadlineMs: AGAIN_MS_MAX,
    });
    expect(new Set(came().map(({ jti }) => jti)).size).toBe(times);
    expect(await next.end('SIGTERM')).toBe(0);
  },
);
