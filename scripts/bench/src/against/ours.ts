/** Cardea's authorization service, and servers that do nothing. */

import type { BenchContext } from '../harness.ts';
import type { LoadRequest } from '../http.ts';
import { started } from '../started.ts';
import type { FgaSetName } from '../subjects/fga-sets.ts';
import { type CheckServer, pin, SERVER_CORE } from './check-server.ts';

const OURS = new URL('../workers/fga-check.worker.ts', import.meta.url);
const EXPRESS = new URL('../workers/express-noop.worker.ts', import.meta.url);
const BARE = new URL('../workers/bare-noop.worker.ts', import.meta.url);
/** About as long as the answer to a check. */
const NOOP_ANSWER = '{"allowed":true,"reason":"user:a viewer document:d"}';

type NoOp = { readonly pid: number; readonly origin: string };
type OursReady = NoOp & {
  readonly headers: { readonly [name: string]: string };
};

export async function startOurs(context: BenchContext, name: FgaSetName): Promise<CheckServer> {
  const { pid, origin, headers } = await started<OursReady>(
    context,
    OURS,
    await context.database(),
    context.smoke ? 'smoke' : 'whole',
    name,
  );
  pin(pid, SERVER_CORE);
  const post = (path: string, body: object, status = 200): LoadRequest => ({
    method: 'POST',
    path: `/api/v1/fga/${path}`,
    headers,
    body: JSON.stringify(body),
    status,
  });
  return {
    name: 'Cardea',
    origin,
    pid,
    check: (question) => post('check', question),
    allowed: (answer) => (JSON.parse(answer) as { allowed: boolean }).allowed,
    list: ({ object_id: _, ...rest }) => post('list-objects', rest),
    listed: (answer) => (JSON.parse(answer) as { object_ids: string[] }).object_ids,
    write: (tuple) => post('tuples', tuple, 201),
    delete: (tuple) => ({ ...post('tuples', tuple), method: 'DELETE' }),
  };
}

export async function startNoOp(context: BenchContext, kind: 'bare' | 'express'): Promise<NoOp> {
  const server = await started<NoOp>(context, kind === 'bare' ? BARE : EXPRESS, NOOP_ANSWER);
  pin(server.pid, SERVER_CORE);
  return server;
}
