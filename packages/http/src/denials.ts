/**
 * What a known caller was refused is recorded before the answer leaves, or a quarter of a second
 * later; a caller who is refused all the time is recorded once per minute and reason, with a count.
 */
import type { Principal } from '@cardea/auth';
import type { Clock, Logger } from '@cardea/runtime';
import type { Area, Contract, Request } from './endpoint.ts';
import type { Refusal } from './refusal.ts';

export type Denial = {
  readonly principal: Principal;
  readonly area: Area;
  /** The contract's name. */
  readonly operation: string;
  /** The error code as answered. */
  readonly reason: string;
  readonly status: number;
  readonly target: { readonly type: string; readonly id: string | null } | null;
  /** More than 1 where a minute's refusals were folded into one. */
  readonly count: number;
  /** Context of the (last) refused request; `commandId` is this denial's own. */
  readonly request: Request<unknown, unknown, unknown>;
};

/** Where refusals are kept: the log of the service that refused. May throw; the answer stands anyhow. */
export interface Denials {
  record(denial: Denial): Promise<void>;
}

export const DENIAL_WAIT_MS = 250;
/** Per principal; what comes above is folded. */
export const DENIALS_PER_MINUTE = 60;
const PRINCIPALS_MAX = 10_000;
const FOLDED_PER_PRINCIPAL_MAX = 256;
const MINUTE_MS = 60_000;

const ALWAYS = new Set([401, 403]);
const ON_WRITES = new Set([409, 410, 422, 429]);

export function isRecorded(contract: Contract, { status, code }: Refusal): boolean {
  const own = contract.recordsItsRefusals;
  if (own === true || own?.includes(code)) return false;
  return ALWAYS.has(status) || (contract.method !== 'get' && ON_WRITES.has(status));
}

type Minute = {
  readonly startMs: number;
  told: number;
  readonly folded: Map<string, Denial>;
};

/** One service's refusals on their way to its log, with bounded memory and a bounded rate. */
export class DenialDesk {
  readonly #denials: Denials;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #minutes = new Map<string, Minute>();

  constructor(denials: Denials, clock: Clock, logger: Logger) {
    this.#denials = denials;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Resolves when recorded, folded, or after {@link DENIAL_WAIT_MS}. Never throws. */
  async record(denial: Denial): Promise<void> {
    const minute = this.#minuteOf(denial.principal);
    minute.told += 1;
    if (minute.told > DENIALS_PER_MINUTE) return this.#fold(minute, denial);
    const waiting = new AbortController();
    const recorded = this.#write(denial).finally(() => waiting.abort());
    await Promise.race([recorded, this.#clock.sleep(DENIAL_WAIT_MS, waiting.signal)]);
  }

  /** Writes the folded ones of minutes that are over; all of them when the process stops. */
  async flush(all = false): Promise<void> {
    const over = this.#clock.now().getTime() - MINUTE_MS;
    for (const [key, minute] of [...this.#minutes]) {
      if (!all && minute.startMs > over) continue;
      this.#minutes.delete(key);
      await this.#writeFolded(minute);
    }
  }

  #minuteOf({ kind, id, tenantId }: Principal): Minute {
    const key = `${tenantId} ${kind} ${id}`;
    const nowMs = this.#clock.now().getTime();
    const current = this.#minutes.get(key);
    if (current !== undefined && nowMs - current.startMs < MINUTE_MS) return current;
    if (current !== undefined) void this.#writeFolded(current);
    else if (this.#minutes.size >= PRINCIPALS_MAX) this.#dropOldest();
    const fresh: Minute = { startMs: nowMs, told: 0, folded: new Map() };
    this.#minutes.delete(key);
    this.#minutes.set(key, fresh);
    return fresh;
  }

  #dropOldest(): void {
    const oldest = this.#minutes.entries().next().value;
    if (oldest === undefined) return;
    this.#minutes.delete(oldest[0]);
    void this.#writeFolded(oldest[1]);
  }

  #fold(minute: Minute, denial: Denial): void {
    const key = `${denial.operation} ${denial.reason}`;
    const count = (minute.folded.get(key)?.count ?? 0) + 1;
    if (count > 1 || minute.folded.size < FOLDED_PER_PRINCIPAL_MAX) {
      minute.folded.set(key, { ...denial, target: null, count });
    }
  }

  async #writeFolded(minute: Minute): Promise<void> {
    for (const denial of minute.folded.values()) await this.#write(denial);
  }

  async #write(denial: Denial): Promise<void> {
    try {
      await this.#denials.record(denial);
    } catch (error) {
      const { operation, reason, count } = denial;
      const name = error instanceof Error ? error.name : 'unknown';
      this.#logger.warn({ operation, reason, count, error: name }, 'a refusal was not recorded');
    }
  }
}
