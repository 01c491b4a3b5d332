/**
 * Counts reused grants and writes the counts each second. A killed process loses at most a second of counts, never a
 * grant. A process that has failed to write for a minute reuses no more grants.
 */
import { accept, type Streams } from '@cardea/event-store';
import type { Request } from '@cardea/http';
import { type Clock, type Ids, type Logger, wakeSignal } from '@cardea/runtime';
import type { Loop, ServiceDependencies } from '@cardea/service';
import { type CredentialReused, type GrantKeyState, grantKeys } from './grant-key.ts';

const FLUSH_MS = 1_000;
/** The pause while nothing is counted. With the second after it a turn still comes every 10 s. */
const REST_MS = 9_000;
const GRANTS_MAX = 10_000;
const UNWRITTEN_MS_MAX = 60_000;

type AnyRequest = Request<unknown, unknown, unknown>;
type Count = {
  /** The command id of the write. A count whose write is retried is written once. */
  readonly id: string;
  readonly grantKeyId: string;
  readonly grantId: string;
  readonly request: AnyRequest;
  readonly times: number;
};

export interface ReuseCounter {
  count(request: AnyRequest, grantKeyId: string, grantId: string): void;
  /** Whether no grant may be reused before the counts are written. */
  isFull(): boolean;
  flush(): Promise<void>;
  readonly loop: Loop;
}

export const reuse = (
  of: { readonly grantId: string; readonly times: number },
  grantKey: GrantKeyState,
): { readonly accepted: true; readonly events: readonly CredentialReused[] } => {
  if (grantKey.status === 'empty') return accept();
  const data = { ...grantKey.current, reused_grant_id: of.grantId, count: of.times };
  return accept({ type: 'CredentialReused', data });
};

export function reuseCounter(needs: {
  readonly streams: Streams;
  readonly command: ServiceDependencies['command'];
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  /** Runs with each flush and writes the batched refusals. */
  readonly alongside: () => Promise<void>;
}): ReuseCounter {
  const { streams, clock, ids, log } = needs;
  let open = new Map<string, Count>();
  let closed: Count[] = [];
  let failingSinceMs: number | undefined;
  const counted = wakeSignal(clock);

  const write = async ({ id, grantKeyId, grantId, request, times }: Count): Promise<void> => {
    const command = { ...(await needs.command(request)), id };
    await streams.decideOn(grantKeys, grantKeyId, command, (grantKey) =>
      reuse({ grantId, times }, grantKey),
    );
  };
  const flush = async (): Promise<void> => {
    closed.push(...open.values());
    open = new Map();
    const left: Count[] = [];
    for (const count of closed) {
      try {
        await write(count);
      } catch (error) {
        const name = error instanceof Error ? error.name : 'unknown';
        log.warn({ error: name }, 'counts of reused grants were not written yet');
        left.push(...closed.slice(closed.indexOf(count)));
        break;
      }
    }
    closed = left;
    failingSinceMs = left.length === 0 ? undefined : (failingSinceMs ?? clock.monotonicMs());
  };
  return {
    count: (request, grantKeyId, grantId) => {
      const key = `${grantKeyId} ${grantId}`;
      const before = open.get(key);
      if (open.size === 0) counted.wake();
      const id = before?.id ?? ids.next();
      open.set(key, { id, grantKeyId, grantId, request, times: (before?.times ?? 0) + 1 });
    },
    isFull: () =>
      open.size + closed.length >= GRANTS_MAX ||
      (failingSinceMs !== undefined && clock.monotonicMs() - failingSinceMs > UNWRITTEN_MS_MAX),
    flush,
    loop: {
      name: 'vault-reuse',
      run: async (signal, tick) => {
        while (!signal.aborted) {
          tick();
          await flush();
          await needs.alongside();
          if (closed.length === 0) await counted.rest(REST_MS, signal);
          await clock.sleep(FLUSH_MS, signal);
        }
      },
    },
  };
}
