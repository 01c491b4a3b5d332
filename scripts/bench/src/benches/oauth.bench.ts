/**
 * B18 compares the introspection of a live token with the same pipeline and an empty handler. B19 compares an
 * authorization in a browser that is signed in, up to the tokens, with a password login without its hash.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Bench, type BenchContext, type Row, workerSide } from '../harness.ts';
import { httpSide } from '../http.ts';
import { started } from '../started.ts';
import type { OAuthServer } from '../workers/oauth.worker.ts';

const SERVER = new URL('../workers/oauth.worker.ts', import.meta.url);
const EMPTY = new URL('../workers/empty-handler.worker.ts', import.meta.url);
const CLIENTS = new URL('../workers/oauth-clients.worker.ts', import.meta.url);
const CALLERS = 64;
const CALLERS_SMOKE = 8;
const PATH = '/oauth2/introspect';

export const benches: readonly Bench[] = [
  {
    id: 'B18',
    title: 'introspection of a live token, 64 clients',
    isLong: true,
    run: introspection,
  },
  {
    id: 'B19',
    title: 'authorize to tokens in a browser that is signed in',
    isLong: true,
    run: authorization,
  },
];

const oauth = (context: BenchContext): Promise<OAuthServer> =>
  context.shared('oauth', async (within) =>
    started<OAuthServer>(within, SERVER, await within.database()),
  );

async function introspection(context: BenchContext): Promise<readonly Row[]> {
  const { origin, token } = await oauth(context);
  const connections = context.smoke ? CALLERS_SMOKE : CALLERS;
  const asked = {
    method: 'POST',
    path: PATH,
    body: JSON.stringify({ token }),
    status: 200,
  } as const;
  const subject = await httpSide(context, 'introspection', {
    origin,
    connections,
    requests: [{ ...asked, contains: '"active":true' }],
  });
  const floor = await httpSide(context, 'the same pipeline, an empty handler', {
    origin: await started<string>(context, EMPTY),
    connections,
    requests: [asked],
  });
  return [await context.compare({ id: 'B18', subject, floor, goal: { at_least: 0.5 } })];
}

async function authorization(context: BenchContext): Promise<readonly Row[]> {
  const server = await oauth(context);
  const folder = mkdtempSync(join(tmpdir(), 'cardea-oauth-'));
  context.onEnd(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'server.json'); // Passed in a file, because it contains a password.
  writeFileSync(path, JSON.stringify(server), { mode: 0o600 });
  const subject = await workerSide(context, 'authorize to tokens', CLIENTS, [path, 'authorize']);
  const floor = await workerSide(context, 'login, cheap hash', CLIENTS, [path, 'login']);
  return [await context.compare({ id: 'B19', subject, floor, goal: { at_least: 0.33 } })];
}
