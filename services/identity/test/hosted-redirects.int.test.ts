/** If any program could receive the response, even the tenant's own application gets it only after an interaction. */
import { describe, expect, it } from 'vitest';
import { PASSWORD } from './identity-fixture.ts';
import { application, authorizeUrl, browser, oauthOfFile, pkce } from './oauth-fixture.ts';

const { fixture, admin } = oauthOfFile({ RATE_LIMIT_FACTOR: '100000' });

/** A browser in which a user has already signed in to the application. */
async function signedIn(redirect_uri: string) {
  const client = await application(fixture, admin, {
    ...{ type: 'native', first_party: true, redirect_uris: [redirect_uri], name: 'Shop CLI' },
  });
  const [page, ann] = [browser(fixture), await fixture.register(admin.tenantId)];
  const challenge = { code_challenge: pkce().challenge };
  const urlOf = (more: { [name: string]: string }) =>
    authorizeUrl(client, { ...challenge, redirect_uri, ...more });
  const { location } = await page.get(urlOf({}));
  const form = { email: ann.email, password: PASSWORD };
  const { location: resumed } = await page.form(`${location}/login`, form);
  const first = (await page.get(resumed)).location;
  return { page, first, urlOf };
}

const codeOf = (location: string) => new URL(location).searchParams.get('code');

describe('a redirect that any program of the device may receive', () => {
  it.each(['http://127.0.0.1:9/cb', 'com.example.shop://cb'])(
    'oauth 33 is named before the browser is sent on to %s',
    async (redirect) => {
      const { page, first, urlOf } = await signedIn(redirect);
      expect(codeOf(first)).toEqual(expect.any(String));
      const at = (await page.get(urlOf({}))).location;
      const { text } = await page.get(at);
      expect(text).toContain('Continue to Shop CLI?');
      expect(text).toContain(redirect.startsWith('http') ? '127.0.0.1:9' : 'com.example.shop:');
      const { location } = await page.form(`${at}/consent`, {});
      expect(codeOf((await page.get(location)).location)).toEqual(expect.any(String));
    },
  );

  it('oauth 33 is not used without a page for prompt=none; one of https is', async () => {
    const uris = ['com.example.shop:/cb', 'https://shop.example/cb'];
    const ends = uris.map(async (redirect) => {
      const { page, urlOf } = await signedIn(redirect);
      const { location } = await page.get(urlOf({ prompt: 'none' }));
      return new URL(location).searchParams.get('error') ?? typeof codeOf(location);
    });
    expect(await Promise.all(ends)).toEqual(['interaction_required', 'string']);
  });
});
