/** Browsers that are signed in and authorize again and again; or the same person, who logs in each time. */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Pool } from 'undici';
import { measureCalls, serveMeasurements } from '../harness.ts';
import type { OAuthServer } from './oauth.worker.ts';

const CLIENTS = 8;
const [path = '', how = 'login'] = process.argv.slice(2);
const server = JSON.parse(readFileSync(path, 'utf8')) as OAuthServer;
const pool = new Pool(server.origin, { connections: CLIENTS });
const browsers = new Map<number, string>();

type Sent = { readonly headers?: { readonly [name: string]: string }; readonly body?: string };

async function send(method: 'GET' | 'POST', to: string, { headers = {}, body }: Sent = {}) {
  const answer = await pool.request({ path: to, method, headers, body: body ?? null });
  const text = await answer.body.text();
  const set = [answer.headers['set-cookie'] ?? []].flat().map((line) => line.split(';')[0] ?? '');
  const location = String(answer.headers['location'] ?? '');
  return { status: answer.statusCode, text, location, cookies: set };
}

const form = { 'content-type': 'application/x-www-form-urlencoded' };
const { clientIds, redirectUri: redirect_uri } = server;
let turn = 0;

/** Each application in turn. */
function request() {
  const client_id = clientIds[turn++ % clientIds.length] ?? '';
  const code_verifier = randomBytes(32).toString('base64url');
  const code_challenge = createHash('sha256').update(code_verifier).digest('base64url');
  const query = new URLSearchParams({
    client_id,
    redirect_uri,
    response_type: 'code',
    scope: 'openid profile',
    code_challenge,
    code_challenge_method: 'S256',
  });
  return { client_id, code_verifier, to: `/oauth2/authorize?${query}` };
}

const pathOf = (location: string) => {
  const { pathname, search } = new URL(location, server.issuer);
  return pathname + search;
};

/** Once for each browser; answers its cookies. */
async function signIn(): Promise<string> {
  const jar = new Map<string, string>();
  const keep = ({ cookies }: { readonly cookies: readonly string[] }) => {
    for (const pair of cookies) jar.set(pair.slice(0, pair.indexOf('=')), pair);
  };
  const headers = () => ({ cookie: [...jar.values()].join('; ') });
  const asked = await send('GET', request().to);
  keep(asked);
  const { email, password } = server;
  const signed = await send('POST', `${pathOf(asked.location)}/login`, {
    headers: { ...headers(), 'content-type': 'application/json', origin: server.issuer },
    body: JSON.stringify({ email, password }),
  });
  if (signed.status !== 200) throw new Error(`the page answered ${signed.status}`);
  keep(await send('GET', pathOf(JSON.parse(signed.text).redirect_to), { headers: headers() }));
  return headers().cookie;
}

async function authorize(client: number): Promise<void> {
  const cookie = browsers.get(client) ?? '';
  const { client_id, code_verifier, to } = request();
  const { location } = await send('GET', to, { headers: { cookie } });
  const code = new URL(location, server.issuer).searchParams.get('code');
  if (code === null) throw new Error('nobody is signed in');
  const of = { grant_type: 'authorization_code', client_id, redirect_uri, code, code_verifier };
  const body = String(new URLSearchParams(of));
  const { status } = await send('POST', '/oauth2/token', { headers: form, body });
  if (status !== 200) throw new Error(`the exchange answered ${status}`);
}

async function logIn(): Promise<void> {
  const { email, password, tenant } = server;
  const { status } = await send('POST', '/api/v1/auth/login', {
    headers: { 'content-type': 'application/json', 'x-service-tenant': tenant },
    body: JSON.stringify({ email, password }),
  });
  if (status !== 200) throw new Error(`login answered ${status}`);
}

serveMeasurements(async (seconds) => {
  if (how === 'login') return measureCalls(CLIENTS, seconds, logIn);
  for (let client = 0; client < CLIENTS; client += 1) {
    if (!browsers.has(client)) browsers.set(client, await signIn());
  }
  return measureCalls(CLIENTS, seconds, authorize);
});
