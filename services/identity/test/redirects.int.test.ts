/** After a sign-in a browser may only be redirected to registered addresses, which are compared byte for byte. */
import { describe, expect, it } from 'vitest';
import { contractFixture } from './contract-fixture.ts';
import { application, authorizeUrl, browser, pkce } from './oauth-fixture.ts';
import { PAGE } from './social-fixture.ts';

const world = contractFixture();
const { host, pathname } = new URL(PAGE);

const NEAR = [
  ...[`${PAGE}/more`, `${PAGE}?a=b`, `${PAGE}#`, `${PAGE}/`, PAGE.slice(0, -1)],
  ...[`https://sub.${host}${pathname}`, `https://${host}.evil.example${pathname}`],
  ...[`https://localhost.${host}${pathname}`, `https://${host}:444${pathname}`],
  ...[`https://${host.toUpperCase()}${pathname}`, `https://${host}${pathname.toUpperCase()}`],
  ...[`https://${host}%2f${pathname}`, `https://${host}/a/..${pathname}`],
  ...[`https://${host}@evil.example${pathname}`, `https://evil.example\\@${host}${pathname}`],
  ...[`http://${host}${pathname}`, `//${host}${pathname}`, 'javascript:alert(1)'],
];

describe('S14 a redirect', () => {
  it.each(NEAR)('S14 never leads from a social sign-in to %s', async (redirect_uri) => {
    const { tenantId: tenant_id } = world.admin;
    const answer = await world.social.authorize('google', { tenant_id, redirect_uri });
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
  });

  it.each(NEAR)('S14 never leads from the authorization server to %s', async (redirect_uri) => {
    const client = await application(world.fixture, world.admin, { redirect_uris: [PAGE] });
    const { challenge } = pkce();
    const url = authorizeUrl(client, { code_challenge: challenge, redirect_uri });
    const answer = await browser(world.fixture).get(url);
    expect([answer.status, answer.location]).toEqual([400, '']);
  });

  it('S14 leads to what was registered', async () => {
    const { tenantId: tenant_id } = world.admin;
    const social = await world.social.authorize('google', { tenant_id, redirect_uri: PAGE });
    expect(social.status).toBe(302);
    const client = await application(world.fixture, world.admin, { redirect_uris: [PAGE] });
    const code_challenge = pkce().challenge;
    const url = authorizeUrl(client, { code_challenge, redirect_uri: PAGE, prompt: 'none' });
    const answer = await browser(world.fixture).get(url);
    expect(new URL(answer.location).searchParams.get('error')).toBe('login_required');
  });
});
