/** A machine whose token is bound to a key. Each of its checks has a separate proof (DPoP, RFC 9449). */
import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Pool } from 'undici';
import { type Measured, measureCalls, serveMeasurements } from '../harness.ts';
import { FORM } from '../subjects/signed-in-browser.ts';

export type DpopChecks = {
  readonly origin: string;
  readonly issuer: string;
  readonly tenant: string;
  readonly connections: number;
  readonly client: { readonly client_id: string; readonly client_secret: string };
  readonly questions: readonly string[];
};

const CHECK = '/api/v1/fga/check';
const TOKEN = '/oauth2/token';
/** The assumed rate for the first measurement, which has no previous one. */
const FIRST_RATE = 4_000;
/** More than the last rate, so that the proofs rarely run out, which would end a measurement early. */
const MARGIN = 1.5;
/** A proof is valid for 60 s, so no more proofs are made than can be made and sent in that time. */
const PROOFS_MAX = 50_000;

const [path = ''] = process.argv.slice(2);
const of = JSON.parse(readFileSync(path, 'utf8')) as DpopChecks;
const pool = new Pool(of.origin, { connections: of.connections, pipelining: 1 });
const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const header = encoded({
  typ: 'dpop+jwt',
  alg: 'ES256',
  jwk: publicKey.export({ format: 'jwk' }),
});

function proof(to: string, claims: object = {}): string {
  const iat = Math.floor(Date.now() / 1000);
  const payload = { jti: randomUUID(), htm: 'POST', htu: of.issuer + to, iat, ...claims };
  const signed = `${header}.${encoded(payload)}`;
  const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const;
  return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`;
}

async function post(to: string, headers: { readonly [name: string]: string }, body: string) {
  const answer = await pool.request({ path: to, method: 'POST', headers, body });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`${to} answered ${answer.statusCode}: ${text}`);
  return text;
}

const form = { grant_type: 'client_credentials', ...of.client };
const tokenHeaders = { ...FORM, dpop: proof(TOKEN) };
const issued = JSON.parse(await post(TOKEN, tokenHeaders, String(new URLSearchParams(form))));
const access: string = issued.access_token;
const ath = createHash('sha256').update(access).digest('base64url');
let rate = FIRST_RATE;
let turn = 0;

async function measure(seconds: number): Promise<Measured> {
  const began = performance.now();
  // Proofs are made before the measurement, because their cost for the client is not part of the server's cost.
  const count = Math.min(Math.ceil(rate * MARGIN * seconds), PROOFS_MAX);
  const proofs = Array.from({ length: count }, () => proof(CHECK, { ath }));
  const madeMs = performance.now() - began;
  const call = async () => {
    const asked = of.questions[turn++ % of.questions.length] ?? '';
    const headers = {
      'content-type': 'application/json',
      'x-service-tenant': of.tenant,
      authorization: `DPoP ${access}`,
      dpop: proofs.pop() ?? '',
    };
    const text = await post(CHECK, headers, asked);
    if (!text.includes('"allowed":')) throw new Error('the answer lacks what was expected of it');
  };
  const measured = await measureCalls(of.connections, seconds, call, () => proofs.length === 0);
  rate = measured.per_second;
  console.log(`  ${count} proofs made before, ${(madeMs / count).toFixed(3)} ms each`);
  return measured;
}

serveMeasurements(measure);
