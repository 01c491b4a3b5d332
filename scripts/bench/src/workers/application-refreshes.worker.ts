/** Applications that refresh. Each caller has its own sessions, and each session its own rotating refresh token. */
import { readFileSync } from 'node:fs';
import { Pool } from 'undici';
import { measureCalls, serveMeasurements } from '../harness.ts';
import { FORM, type Person, signedInBrowser } from '../subjects/signed-in-browser.ts';

export type ApplicationRefreshes = Person & {
  readonly origin: string;
  readonly callers: number;
  /** The application of each session; there are at least as many as callers. */
  readonly clientIds: readonly string[];
  /** The algorithm of their id_tokens. */
  readonly alg: string;
};

const [path = ''] = process.argv.slice(2);
const of = JSON.parse(readFileSync(path, 'utf8')) as ApplicationRefreshes;
const pool = new Pool(of.origin, { connections: of.callers, pipelining: 1 });
const { clientIds } = of;
const browser = await signedInBrowser(pool, of, clientIds[0] ?? '');
const tokens: string[] = [];
for (const clientId of clientIds) {
  const { refresh_token } = await browser.tokensOf(clientId);
  if (refresh_token === undefined) throw new Error('the application got no refresh token');
  tokens.push(refresh_token);
}
const turns = new Map<number, number>();
const expected = Buffer.from(`{"alg":"${of.alg}"`).toString('base64url').slice(0, -1);

/** A caller uses its sessions in turn: every `callers`-th one. */
async function refresh(caller: number): Promise<void> {
  const turn = turns.get(caller) ?? 0;
  turns.set(caller, turn + 1);
  const own = Math.ceil((clientIds.length - caller) / of.callers);
  const at = caller + (turn % own) * of.callers;
  const client_id = clientIds[at] ?? '';
  const sent = { grant_type: 'refresh_token', client_id, refresh_token: tokens[at] ?? '' };
  const answer = await pool.request({
    path: '/oauth2/token',
    method: 'POST',
    headers: FORM,
    body: String(new URLSearchParams(sent)),
  });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`refresh answered ${answer.statusCode}: ${text}`);
  const { refresh_token, id_token } = JSON.parse(text);
  tokens[at] = refresh_token;
  if (!String(id_token).startsWith(expected)) throw new Error(`no id_token by ${of.alg}`);
}

serveMeasurements((seconds) => measureCalls(of.callers, seconds, refresh));
