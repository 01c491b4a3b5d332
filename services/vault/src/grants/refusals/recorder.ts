/**
 * Refused vends on their way to the log: before the answer, or a quarter of a second later. An agent that
 * is refused all the time is recorded once per minute and code, with a count.
 */
import type { Streams } from '@cardea/event-store';
import type { Request } from '@cardea/http';
import type { Clock, Ids, Logger } from '@cardea/runtime';
import type { ServiceNeeds } from '@cardea/service';
import { type Refused, refusals, refuseVend } from './refusal.ts';

const WAIT_MS = 250;
const MINUTE_MS = 60_000;
const PER_MINUTE_MAX = 60;
const AGENTS_MAX = 10_000;
const FOLDED_PER_AGENT_MAX = 100;

type AnyRequest = Request<unknown, unknown, unknown>;
type Folded = { readonly request: AnyRequest; readonly data: Refused; readonly count: number };
type Minute = { readonly startMs: number; told: number; readonly folded: Map<string, Folded> };

export interface RefusalRecorder {
  /** Never throws: the answer stands anyhow. */
  record(request: AnyRequest, data: Refused): Promise<void>;
  /** Writes what was folded in minutes that are over; all of it when the process stops. */
  flush(all?: boolean): Promise<void>;
}

export function refusalRecorder(needs: {
  readonly streams: Streams;
  readonly command: ServiceNeeds['command'];
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
}): RefusalRecorder {
  const { streams, clock, ids, log } = needs;
  const minutes = new Map<string, Minute>();

  const write = async ({ request, data, count }: Folded): Promise<void> => {
    try {
      const command = { ...(await needs.command(request)), id: ids.next() };
      await streams.decideOn(refusals, data.agent_id, command, () =>
        refuseVend({ ...data, count }),
      );
    } catch (error) {
      const name = error instanceof Error ? error.name : 'unknown';
      log.warn({ code: data.code, count, error: name }, 'a refused vend was not recorded');
    }
  };
  const minuteOf = (key: string): Minute => {
    const nowMs = clock.monotonicMs();
    const known = minutes.get(key);
    if (known !== undefined && nowMs - known.startMs < MINUTE_MS) return known;
    for (const folded of known?.folded.values() ?? []) void write(folded);
    const fresh: Minute = { startMs: nowMs, told: 0, folded: new Map() };
    if (minutes.size < AGENTS_MAX || known !== undefined) minutes.set(key, fresh);
    return fresh;
  };
  return {
    record: async (request, data) => {
      const minute = minuteOf(`${request.tenantId} ${data.agent_id}`);
      minute.told += 1;
      if (minute.told > PER_MINUTE_MAX) return fold(minute, request, data);
      const waiting = new AbortController();
      const written = write({ request, data, count: 1 }).finally(() => waiting.abort());
      await Promise.race([written, clock.sleep(WAIT_MS, waiting.signal)]);
    },
    flush: async (all = false) => {
      const over = clock.monotonicMs() - MINUTE_MS;
      for (const [key, minute] of [...minutes]) {
        if (!all && minute.startMs > over) continue;
        minutes.delete(key);
        for (const folded of minute.folded.values()) await write(folded);
      }
    },
  };
}

function fold(minute: Minute, request: AnyRequest, data: Refused): void {
  const key = `${data.code} ${data.service_id}`;
  const count = (minute.folded.get(key)?.count ?? 0) + 1;
  if (count > 1 || minute.folded.size < FOLDED_PER_AGENT_MAX) {
    minute.folded.set(key, { request, data, count });
  }
}
