/** A device that requests tokens, and the person who decides in a browser (RFC 8628). */
import { expect } from 'vitest';
import { type Account, PASSWORD } from './identity-fixture.ts';
import {
  application,
  type Browser,
  type OAuthParty,
  type TestClient,
  token,
} from './oauth-fixture.ts';

export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

export const deviceApplication = (
  fixture: Pick<OAuthParty, 'as'>,
  admin: Account,
  more: object = {},
): Promise<TestClient> =>
  application(fixture, admin, {
    ...{ name: 'Terminal', type: 'native', redirect_uris: [] },
    grant_types: [DEVICE_GRANT, 'refresh_token'],
    ...more,
  });

export type DeviceRequest = {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri_complete: string;
  readonly expires_in: number;
  readonly interval: number;
  readonly error?: string;
};

const secretOf = ({ client_secret }: TestClient) =>
  client_secret === undefined ? {} : { client_secret };

export async function askFor(
  { baseUrl }: Pick<OAuthParty, 'baseUrl'>,
  client: TestClient,
  { scope = 'openid email', headers = {} }: { scope?: string; headers?: object } = {},
) {
  const { client_id } = client;
  const answer = await fetch(`${baseUrl}/oauth2/device_authorization`, {
    method: 'POST',
    body: new URLSearchParams({ client_id, scope, ...secretOf(client) }),
    headers: headers as Record<string, string>,
  });
  return { status: answer.status, body: (await answer.json()) as DeviceRequest };
}

export const requestDevice = async (
  fixture: Pick<OAuthParty, 'baseUrl'>,
  client: TestClient,
  scope?: string,
): Promise<DeviceRequest> => {
  const answer = await askFor(fixture, client, scope === undefined ? {} : { scope });
  expect(answer).toMatchObject({ status: 200 });
  return answer.body;
};

export const poll = (
  fixture: Pick<OAuthParty, 'baseUrl'>,
  client: TestClient,
  { device_code }: Pick<DeviceRequest, 'device_code'>,
) => {
  const { client_id } = client;
  return token(fixture, { grant_type: DEVICE_GRANT, client_id, device_code, ...secretOf(client) });
};

const XSRF = /name="xsrf" value="([^"]+)"/;
export const xsrfOf = ({ text }: { readonly text: string }): string => XSRF.exec(text)?.[1] ?? '';

/** Enters the code and returns the page that shows it for comparison. */
export async function enter(page: Browser, user_code: string) {
  const shown = await page.get('/oauth2/device');
  return page.form('/oauth2/device', { xsrf: xsrfOf(shown), user_code });
}

/** Continues from the page that shows the code to the consent page. */
export async function confirmed(
  page: Browser,
  shown: { readonly text: string },
  { user_code, account }: { readonly user_code: string; readonly account: Pick<Account, 'email'> },
) {
  const form = { xsrf: xsrfOf(shown), user_code, confirm: 'yes' };
  let answer = await page.form('/oauth2/device', form);
  const prompts: string[] = [];
  for (let step = 0; step < 6; step += 1) {
    const { location } = answer;
    if (!location.includes('/oauth2/interaction/')) return { answer, prompts, path: '' };
    const path = new URL(location, 'http://127.0.0.1').pathname;
    const view = (await page.get(path, { accept: 'application/json' })).body;
    prompts.push(view.prompt);
    if (view.prompt === 'consent') return { answer, prompts, path };
    const { email } = account;
    const done = await page.post(`${path}/login`, { email, password: PASSWORD });
    expect(done, done.text).toMatchObject({ status: 200 });
    answer = await page.get(done.body.redirect_to);
  }
  throw new Error('the sign-in does not end');
}

/** Performs the whole flow: enters the code, compares it, signs in, consents. */
export async function allow(
  page: Browser,
  of: { readonly user_code: string; readonly account: Pick<Account, 'email'> },
) {
  const { path, prompts } = await confirmed(page, await enter(page, of.user_code), of);
  const done = await page.post(`${path}/consent`);
  expect(done, done.text).toMatchObject({ status: 200 });
  const last = await page.get(done.body.redirect_to);
  expect(last, last.text).toMatchObject({ status: 200 });
  return { last, prompts };
}
