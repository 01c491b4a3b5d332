/**
 * Keycloak as an application of Cardea: its users sign in here, and its sessions end with ours. It runs in the long
 * form only, since Keycloak takes minutes to start.
 */
import { processFixture, testForm, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Account, ofFile } from './identity-fixture.ts';
import { type Keycloak, startKeycloak, whyNoKeycloak } from './keycloak.ts';
import {
  application,
  type Browser,
  browser,
  REDIRECT,
  reachableFixture,
  signIn,
  type TestClient,
} from './oauth-fixture.ts';

const START_MS_MAX = 900_000;
const REDIRECTS_MAX = 10;
const REALM = 'company';
const APP = 'intranet';

describe.runIf(testForm.long)('Keycloak', () => {
  const processes = processFixture();
  const { fixture, admin } = ofFile(reachableFixture);
  let missing: string | undefined;
  let keycloak: Keycloak;

  beforeAll(async () => {
    missing = await whyNoKeycloak();
    if (missing !== undefined) return;
    keycloak = await startKeycloak(processes);
    const { url } = keycloak;
    const client = await application(fixture, admin, {
      type: 'web',
      redirect_uris: [`${url}/realms/${REALM}/broker/cardea/endpoint`],
      backchannel_logout_uri: `${url}/realms/${REALM}/protocol/openid-connect/logout/backchannel-logout`,
    });
    await keycloak.admin('POST', '', { realm: REALM, enabled: true });
    await keycloak.admin('POST', `/${REALM}/clients`, {
      ...{ clientId: APP, publicClient: true, redirectUris: [REDIRECT] },
    });
    await keycloak.admin('POST', `/${REALM}/identity-provider/instances`, {
      ...{ alias: 'cardea', providerId: 'oidc', enabled: true, trustEmail: true },
      config: await providerConfig(client),
    });
  }, START_MS_MAX);
  afterAll(() => keycloak?.stop());

  /** The configuration that Keycloak's console makes of our discovery document and an administrator's input. */
  async function providerConfig({ client_id, client_secret }: TestClient) {
    const fromUrl = `${fixture.issuer}/.well-known/openid-configuration`;
    const source = { providerId: 'oidc', fromUrl };
    const found = await keycloak.admin('POST', `/${REALM}/identity-provider/import-config`, source);
    expect(found).toMatchObject({ issuer: fixture.issuer, useJwksUrl: 'true' });
    return {
      ...found,
      ...{
        clientId: client_id,
        clientSecret: client_secret,
        clientAuthMethod: 'client_secret_basic',
      },
      ...{ defaultScope: 'openid profile email', pkceEnabled: 'true', pkceMethod: 'S256' },
      ...{ validateSignature: 'true', backchannelSupported: 'true' },
    };
  }

  const asked = (more: { readonly [name: string]: string } = {}): string => {
    const of = { client_id: APP, response_type: 'code', redirect_uri: REDIRECT, scope: 'openid' };
    const query = new URLSearchParams({ ...of, kc_idp_hint: 'cardea', ...more });
    return `/realms/${REALM}/protocol/openid-connect/auth?${query}`;
  };

  /** Follows Keycloak's redirects to a page or to another host. */
  async function followed(at: Browser, to: string) {
    let answer = await at.get(to);
    for (let step = 0; step < REDIRECTS_MAX; step += 1) {
      const { location } = answer;
      if (!location.startsWith(keycloak.url)) return answer;
      answer = await at.get(location);
    }
    throw new Error('it redirects for ever');
  }

  /** Signs a user in to an application of Keycloak through the hosted pages. */
  async function signedIn(account: Account) {
    const theirs = browser({ baseUrl: keycloak.url, issuer: keycloak.url });
    const ours = browser(fixture);
    const { location } = await followed(theirs, asked());
    const to = location.slice(fixture.issuer.length);
    const back = await signIn(ours, to, { account, redirect: keycloak.url });
    const arrived = await followed(theirs, back.href);
    const done = arrived.status === 200 ? await completed(theirs, arrived.text) : arrived;
    expect(done.location).toMatch(/^http:\/\/127\.0\.0\.1:9\/callback\?.*code=/);
    return { theirs, ours };
  }

  /** Completes the page of a first sign-in, because Keycloak requires a family name, which no test user has. */
  async function completed(theirs: Browser, page: string) {
    const action = /action="([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const given = Object.fromEntries(
      [...page.matchAll(/name="(username|email)"[^>]*value="([^"]*)"/g)].map(([, name, value]) => [
        name,
        value,
      ]),
    );
    const form = { ...given, firstName: 'Ann', lastName: 'Archer' };
    const { location } = await theirs.form(action, form);
    return followed(theirs, location);
  }

  const userOf = async ({ email }: Account) => {
    const query = new URLSearchParams({ email, exact: 'true' });
    const [user] = await keycloak.admin('GET', `/${REALM}/users?${query}`);
    return user;
  };
  const sessionsOf = async (id: string): Promise<number> =>
    (await keycloak.admin('GET', `/${REALM}/users/${id}/sessions`)).length;

  type End = (of: { readonly ann: Account; readonly ours: Browser }) => Promise<{ status: number }>;
  it.for<[string, End]>([
    [
      'a sign-out in the browser',
      async ({ ours }) => {
        await ours.get('/oauth2/session/end');
        return ours.form('/oauth2/session/end/confirm');
      },
    ],
    [
      'one of the sessions of an account',
      async ({ ann }) => {
        const { body } = await fixture.as(ann).get('/api/v1/me/sessions');
        const { id } = body.sessions.find((each: TestClient) => each.client_id !== undefined);
        return fixture.as(ann).delete(`/api/v1/me/sessions/${id}`);
      },
    ],
    [
      'all of them by an administrator',
      ({ ann }) => fixture.as(admin).post(`/api/v1/admin/users/${ann.userId}/revoke-sessions`, {}),
    ],
  ])(
    'makes an account of who signs in here, and ends its session with %s [standards 11]',
    async ([, end], context) => {
      if (missing !== undefined) return context.skip(missing);
      const ann = await fixture.registerVerified(admin.tenantId, 'ann');
      const { theirs, ours } = await signedIn(ann);
      const user = await userOf(ann);
      expect(user).toMatchObject({ email: ann.email, enabled: true });
      const links = await keycloak.admin('GET', `/${REALM}/users/${user.id}/federated-identity`);
      expect(links).toMatchObject([{ identityProvider: 'cardea', userId: ann.userId }]);
      expect(await sessionsOf(user.id)).toBe(1);

      expect((await end({ ann, ours })).status).toBe(200);
      await untilTrue(async () => (await sessionsOf(user.id)) === 0, { what: 'the logout notice' });
      const { location } = await followed(theirs, asked({ prompt: 'none', kc_idp_hint: '' }));
      expect(location).toContain('error=login_required');
    },
  );
});
