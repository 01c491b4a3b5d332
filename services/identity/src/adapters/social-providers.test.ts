import { domainToASCII } from 'node:url';
import { describe, expect, it } from 'vitest';
import github from '../../test/published/github.json' with { type: 'json' };
import google from '../../test/published/google.json' with { type: 'json' };
import microsoft from '../../test/published/microsoft.json' with { type: 'json' };
import { CLIENT, publishedGitHub, publishedIssuers } from '../../test/published-providers.ts';
import { externalPerson } from '../authentication/social/external-person.ts';
import { type Provider, socialProviders } from './social-providers.ts';

const CALLBACK = 'https://id.example/callback';
const CHECKS = { state: 'state', nonce: 'nonce', verifier: 'v'.repeat(43) };
const [ONE, OTHER] = [microsoft.id_token.tid, '22222222-2222-4222-8222-222222222222'];
const PRIVATE_ACCOUNTS = '9188040d-6c67-4b5b-b112-36a304b66dad';

/** Answers the published URLs without a network. */
function published() {
  const same = (url: string) => url;
  const [issuers, hub] = [publishedIssuers(same), publishedGitHub(same)];
  const answered = (url: URL, form: URLSearchParams, authorization: string) => {
    const played = { path: url.pathname, query: url.searchParams, form, authorization };
    return issuers.answer(played) ?? hub.answer(played);
  };
  const providers = socialProviders({ monotonicMs: () => 0 }, async (url, options) => {
    const form = new URLSearchParams(String(options.body ?? ''));
    const { authorization = '' } = options.headers as { authorization?: string };
    const answer = answered(new URL(url), form, authorization);
    if ('location' in answer) throw new Error('a browser is sent there, and no server');
    return Response.json(answer.json, { status: answer.status });
  });
  const signIn = async (of: Provider, change = (_back: URL) => {}) => {
    const url = await providers.authorizationUrl(of, CHECKS, CALLBACK);
    if (url === undefined) throw new Error('the provider is unavailable');
    const sent = answered(url, new URLSearchParams(), '');
    const back = new URL('location' in sent ? sent.location : '');
    change(back);
    return { url, told: await providers.ask(of, CHECKS, back) };
  };
  return { issuers, hub, signIn };
}

const provider = (of: Pick<Provider, 'provider'> & Partial<Provider>): Provider => ({
  ...{ clientId: CLIENT.id, clientSecret: CLIENT.secret, endpoint: null, directories: [] },
  ...of,
});
const GOOGLE = provider({ provider: 'google' });
const GITHUB = provider({ provider: 'github' });
const microsoftOf = (...directories: string[]) => provider({ provider: 'microsoft', directories });

const personOf = (
  of: Provider,
  told: Awaited<ReturnType<ReturnType<typeof published>['signIn']>>['told'],
) => {
  if ('fault' in told) return told;
  const client = { client_id: CLIENT.id, endpoint: null, tenants: [...of.directories] };
  return externalPerson(of.provider, told, { client, toAscii: domainToASCII });
};

describe('a sign-in at the published addresses of a provider [identity-22]', () => {
  it('identity 12 takes the documented person of Google, whose mark of a verified address is a text', async () => {
    const { issuers, signIn } = published();
    issuers.person = google.id_token;
    const { url, told } = await signIn(GOOGLE);
    expect(url.href).toMatch(`${google.metadata.authorization_endpoint}?`);
    expect(personOf(GOOGLE, told)).toMatchObject({
      account: { provider: 'google', subject: google.id_token.sub },
      email: 'jsmith@example.com',
      vouched: 'owner',
    });
  });

  it('identity 12 takes the documented person of GitHub, with and without its issuer', async () => {
    for (const sendsIssuer of [true, false]) {
      const { hub, signIn } = published();
      hub.sendsIssuer = sendsIssuer;
      const { url, told } = await signIn(GITHUB, (back) => {
        expect(back.searchParams.get('iss')).toBe(sendsIssuer ? github.issuer : null);
      });
      expect(url.href).toMatch(`${github.authorization_endpoint}?`);
      expect(personOf(GITHUB, told)).toMatchObject({
        account: { provider: 'github', subject: '1' },
        email: 'octocat@github.com',
        displayName: 'monalisa octocat',
      });
    }
  });

  it.each([
    { name: 'one directory', directories: [ONE], path: `/${ONE}/` },
    { name: 'several', directories: [ONE, OTHER], path: '/organizations/' },
    { name: 'private accounts too', directories: [ONE, PRIVATE_ACCOUNTS], path: '/common/' },
  ])('identity 12 takes the documented person of Microsoft: $name', async (of) => {
    const { issuers, signIn } = published();
    issuers.person = { ...microsoft.id_token, email: 'abeli@microsoft.com', xms_edov: true };
    const asked = microsoftOf(...of.directories);
    const { url, told } = await signIn(asked);
    expect(url.pathname).toContain(of.path);
    if (!('claims' in told)) throw new Error('no claims');
    const inCapitals = { ...told, claims: { ...told.claims, tid: ONE.toUpperCase() } };
    expect(personOf(asked, inCapitals)).toEqual(personOf(asked, told));
    expect(personOf(asked, told)).toMatchObject({
      account: { provider: 'microsoft', subject: microsoft.id_token.sub },
      email: 'abeli@microsoft.com',
    });
  });

  it('identity 12 refuses a person of Microsoft whose issuer is that of another directory', async () => {
    const { issuers, signIn } = published();
    issuers.person = microsoft.id_token;
    issuers.forged = (claims) => issuers.signed({ ...claims, tid: OTHER });
    expect((await signIn(microsoftOf(ONE, OTHER))).told).toEqual({ fault: 'failed' });
  });

  it.each([
    ['google', GOOGLE],
    ['github', GITHUB],
    ['microsoft', microsoftOf(ONE)],
  ])('identity 12 refuses an issuer that is not the one asked: %s', async (_name, of) => {
    for (const iss of ['https://github.com', 'https://accounts.google.com/', '']) {
      const { issuers, signIn } = published();
      issuers.person = microsoft.id_token;
      const { told } = await signIn(of, (back) => back.searchParams.set('iss', iss));
      expect([iss, told]).toEqual([iss, iss === '' ? told : { fault: 'failed' }]);
    }
  });
});
