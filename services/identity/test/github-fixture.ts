/** GitHub as far as a sign-in goes: plain OAuth 2, whose errors come with status 200. */
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { CLIENT } from './issuer-fixture.ts';

export type GitHubPerson = {
  readonly user: object;
  readonly emails: readonly { email: string; primary: boolean; verified: boolean }[];
};

export type GitHubFixture = {
  readonly url: string;
  person: GitHubPerson;
  stop(): Promise<void>;
};

type Issued = { readonly challenge: string; readonly redirectUri: string };

export async function gitHubFixture(): Promise<GitHubFixture> {
  const codes = new Map<string, Issued>();
  const tokens = new Set<string>();
  const draw = () => randomBytes(16).toString('hex');

  const authorize = (query: URLSearchParams): string => {
    const code = draw();
    const redirectUri = query.get('redirect_uri') ?? '';
    codes.set(code, { challenge: query.get('code_challenge') ?? '', redirectUri });
    return `${redirectUri}?${new URLSearchParams({ code, state: query.get('state') ?? '' })}`;
  };
  const tokenFor = (form: URLSearchParams): object => {
    const code = form.get('code') ?? '';
    const issued = codes.get(code);
    codes.delete(code);
    const verifier = createHash('sha256').update(form.get('code_verifier') ?? '');
    const isRight =
      form.get('client_id') === CLIENT.id &&
      form.get('client_secret') === CLIENT.secret &&
      form.get('redirect_uri') === issued?.redirectUri &&
      verifier.digest('base64url') === issued.challenge;
    if (!isRight) return { error: 'bad_verification_code' };
    const token = draw();
    tokens.add(token);
    return { access_token: token, token_type: 'bearer', scope: 'read:user,user:email' };
  };
  const isKnown = ({ headers: { authorization = '' } }: IncomingMessage) =>
    tokens.has(authorization.replace(/^bearer /i, ''));

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '', fixture.url);
    const answer = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (url.pathname === '/login/oauth/authorize') {
      return response.writeHead(302, { location: authorize(url.searchParams) }).end();
    }
    if (url.pathname === '/login/oauth/access_token') {
      return answer(200, tokenFor(new URLSearchParams(await text(request))));
    }
    if (!isKnown(request)) return answer(401, { message: 'Bad credentials' });
    if (url.pathname === '/user') return answer(200, fixture.person.user);
    if (url.pathname === '/user/emails') return answer(200, fixture.person.emails);
    return answer(404, { message: 'Not Found' });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const fixture: GitHubFixture = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    person: { user: {}, emails: [] },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return fixture;
}
