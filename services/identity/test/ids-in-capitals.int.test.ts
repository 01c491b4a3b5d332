/** Applications that send their `client_id` in capitals, as .NET does, and Microsoft directories that do so. */
import { beforeAll, describe, expect, it } from 'vitest';
import { askFor, deviceApplication } from './device-fixture.ts';
import { type Account, claimsOf } from './identity-fixture.ts';
import {
  application,
  authorized,
  browser,
  oauthCalls,
  oauthOfFile,
  pkce,
  REDIRECT,
  signIn,
  type TestClient,
  token,
} from './oauth-fixture.ts';

const { fixture, admin } = oauthOfFile();
const { introspect, refresh } = oauthCalls(() => fixture);
let bob: Account;
beforeAll(async () => {
  bob = await fixture.register(admin.tenantId);
});

const inCapitals = (client: TestClient): TestClient => ({
  ...client,
  client_id: client.client_id.toUpperCase(),
});
const basic = ({ client_id, client_secret = '' }: TestClient) => ({
  authorization: `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`,
});
const post = async (path: string, form: object, headers: object = {}) => {
  const answer = await fetch(fixture.baseUrl + path, {
    method: 'POST',
    body: new URLSearchParams(form as Record<string, string>),
    headers: headers as Record<string, string>,
  });
  // biome-ignore lint/suspicious/noExplicitAny: as in the REST driver, tests reach into bodies.
  return { status: answer.status, body: (await answer.json()) as any };
};

describe('a client_id in capitals [identity 19]', () => {
  it('is the client from the page to the token, and consent is asked for once', async () => {
    const client = await application(fixture, admin, {
      grant_types: ['authorization_code', 'refresh_token'],
    });
    const flow = await authorized(fixture, { client: inCapitals(client), account: bob });
    expect(claimsOf(flow.access_token).client_id).toBe(client.client_id);
    expect(claimsOf(flow.id_token).aud).toBe(client.client_id);
    const renewed = await refresh(inCapitals(client), flow.refresh_token);
    expect(renewed).toMatchObject({ status: 200 });
    expect(await introspect(renewed.body.access_token)).toMatchObject({
      active: true,
      client_id: client.client_id,
    });
    // The person is signed in and has consented, so no page is shown for either spelling of the id.
    for (const written of [client, inCapitals(client)]) {
      const { challenge } = pkce();
      const query = { client_id: written.client_id, prompt: 'none', code_challenge: challenge };
      const url = `/oauth2/authorize?${new URLSearchParams({ ...REQUEST, ...query })}`;
      expect((await flow.page.get(url)).location).toContain(`${REDIRECT}?code=`);
    }
    const consents = await fixture.as(bob).get('/api/v1/auth/consents');
    const ids = consents.body.consents.map(({ client_id }: TestClient) => client_id);
    expect(ids).toEqual([client.client_id]);
  });

  it('is the client of a pushed request, in either case afterwards', async () => {
    const client = await application(fixture, admin, { type: 'web', first_party: true });
    for (const [pushedBy, sentBy] of [
      [inCapitals(client), inCapitals(client)],
      [inCapitals(client), client],
      [client, inCapitals(client)],
    ] as const) {
      const { verifier, challenge } = pkce();
      const { client_id, client_secret } = pushedBy;
      const form = { ...REQUEST, client_id, client_secret, code_challenge: challenge };
      const pushed = await post('/oauth2/par', form);
      expect(pushed).toMatchObject({ status: 201 });
      const query = { client_id: sentBy.client_id, request_uri: pushed.body.request_uri };
      const url = `/oauth2/authorize?${new URLSearchParams(query)}`;
      const back = await signIn(browser(fixture), url, { account: bob });
      const code = back.searchParams.get('code') ?? '';
      const exchange = { grant_type: 'authorization_code', code, code_verifier: verifier };
      const answer = await token(fixture, { ...exchange, redirect_uri: REDIRECT }, basic(sentBy));
      expect(answer).toMatchObject({ status: 200 });
    }
  });

  it('is the client of a device, a machine, a revocation and an introspection', async () => {
    const terminal = await deviceApplication(fixture, admin);
    expect(await askFor(fixture, inCapitals(terminal))).toMatchObject({ status: 200 });
    const machine = await application(fixture, admin, { type: 'm2m', redirect_uris: [] });
    const written = inCapitals(machine);
    const { client_id, client_secret } = written;
    const made = await token(fixture, { grant_type: 'client_credentials' }, basic(written));
    expect(claimsOf(made.body.access_token).sub).toBe(machine.client_id);
    const asked = { token: made.body.access_token };
    for (const answer of [
      await post('/oauth2/introspect', { ...asked, client_id, client_secret }),
      await post('/oauth2/introspect', asked, basic(written)),
      await post('/oauth2/introspect', asked, { 'x-service-tenant': bob.tenantId.toUpperCase() }),
    ]) {
      expect(answer).toMatchObject({ status: 200, body: { active: true } });
    }
  });

  it('is the client that a user signs out of', async () => {
    const BYE = 'http://127.0.0.1:9/bye';
    const client = await application(fixture, admin, {
      post_logout_redirect_uris: [BYE],
      first_party: true,
    });
    const { page, id_token } = await authorized(fixture, { client, account: bob });
    const query = {
      ...{ client_id: client.client_id.toUpperCase(), id_token_hint: id_token },
      post_logout_redirect_uri: BYE,
    };
    const answer = await page.get(`/oauth2/session/end?${new URLSearchParams(query)}`);
    expect([answer.status, answer.location]).toEqual([303, BYE]);
  });
});

const REQUEST = {
  ...{ response_type: 'code', redirect_uri: REDIRECT, scope: 'openid profile email' },
  code_challenge_method: 'S256',
};

describe('a directory of Microsoft in capitals [identity 19]', () => {
  it('is stored once, in lower case', async () => {
    const DIRECTORY = '72F988BF-86F1-41AF-91AB-2D7CD011DB47';
    const microsoft = {
      ...{ client_id: 'AAAAAAAA-0000-4000-8000-000000000001', client_secret: 'a-secret' },
      tenants: [DIRECTORY, DIRECTORY.toLowerCase()],
    };
    const changed = await fixture
      .as(admin)
      .patch(`/api/v1/admin/tenants/${admin.tenantId.toUpperCase()}`, {
        settings: { social: { microsoft } },
      });
    expect(changed.status).toBe(200);
    expect(changed.body.settings.social.microsoft).toMatchObject({
      client_id: microsoft.client_id,
      tenants: [DIRECTORY.toLowerCase()],
    });
  });
});
