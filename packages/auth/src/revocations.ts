/**
 * The revocation list is in the shared cache, with a copy in every process. A process that may have
 * missed revocations uses neither its copy nor the cache until it has received all of them again;
 * identity answers meanwhile.
 */
import { type Cache, CacheUnavailable, type Clock } from '@cardea/runtime';
import { tellChange } from './fact-changes.ts';
import type { Ended, Looked, Revocation, Revocations } from './principal.ts';
import { hearingOf } from './revocations-hearing.ts';
import { keeperOf, unlessAway } from './revocations-keeper.ts';
import { type Mirror, mirror, revocationKey } from './revocations-mirror.ts';
import { CHANNEL, GENERATION, readNotice } from './revocations-notice.ts';

const CHECK_MS = 1_000;

export type RevocationsDependencies = {
  readonly cache: Cache;
  readonly clock: Clock;
  /** JWT_EXPIRY + 1 h: how long a revocation must outlive what it revokes. */
  readonly ttlMs: number;
  /** Identity's answer, from its streams; asked while neither copy nor cache can be used. */
  readonly ended: Ended;
};

export interface MirroredRevocations extends Revocations {
  /** Subscribes to the revocations of other processes, and asks for those that were missed. */
  start(): Promise<void>;
  /** Mends what can be mended now; `run` does it each second. Throws CacheUnavailable. */
  check(): Promise<void>;
  /** Checks until the signal aborts; `tick` is called in each round, `told` after each with what is wrong. */
  run(
    signal: AbortSignal,
    tick: () => void,
    told: (fault: string | undefined) => void,
  ): Promise<void>;
  stop(): Promise<void>;
}

export function revocations(needs: RevocationsDependencies): MirroredRevocations {
  const { cache, clock } = needs;
  const marks = mirror(clock, needs.ttlMs);
  const hearing = hearingOf(needs, marks);
  const keeper = keeperOf(needs, { marks, hearing });
  let leave: (() => Promise<void>) | undefined;

  const check = async (): Promise<void> => {
    const whole = (await cache.get(GENERATION)) !== undefined;
    if (hearing.isDeaf()) throw new CacheUnavailable('Nothing is heard.');
    if (keeper.isKept()) {
      if (!whole || keeper.owes() || hearing.stretch() === undefined) await keeper.fill();
    } else if (hearing.stretch() === undefined) {
      await hearing.ask();
    }
  };
  const mend = (): void => {
    // A failure shows at the next check, which tries again.
    check().catch(() => {});
  };
  const hear = (message: string): void => {
    const notice = readNotice(message);
    switch (notice?.word) {
      case undefined:
        return;
      case '+':
        for (const id of notice.ids) marks.add(notice.kind, id, notice.at);
        return;
      case '-':
        for (const id of notice.ids) marks.remove(notice.kind, id);
        keeper.heardUnmarked(notice.kind, notice.ids);
        return;
      case '?':
        keeper.tellAll(notice.names);
        return;
      case '!':
        hearing.toldAll(notice.names);
        return;
    }
  };

  return {
    mark: keeper.mark,
    unmark: keeper.unmark,
    changed: async (change) => {
      await keeper.orOwe(tellChange(cache, change));
    },
    isMarked: marks.has,
    stretch: hearing.stretch,
    look: (asked, keys) => look({ ...needs, marks, stretch: hearing.stretch }, asked, keys),
    start: async () => {
      if (leave !== undefined) return;
      leave = await cache.subscribe(CHANNEL, hear, {
        lost: hearing.lost,
        healed: () => {
          hearing.healed();
          mend();
        },
      });
      if (!hearing.isDeaf()) await hearing.ask().catch(unlessAway);
    },
    keepFilled: keeper.keepFilled,
    check,
    run: async (signal, tick, told) => {
      while (!signal.aborted) {
        tick();
        const fault = await check().then(
          () => (hearing.stretch() === undefined ? 'marks may be missing' : undefined),
          (error: unknown) =>
            error instanceof CacheUnavailable ? 'the cache is away' : 'marks are not kept',
        );
        told(fault);
        await clock.sleep(CHECK_MS, signal);
      }
    },
    stop: async () => {
      await leave?.();
      leave = undefined;
    },
  };
}

/** One round trip to the cache for revocations and other keys; without the cache, identity's answer. */
async function look(
  {
    cache,
    ended,
    marks,
    stretch,
  }: RevocationsDependencies & {
    readonly marks: Mirror;
    readonly stretch: () => number | undefined;
  },
  asked: readonly Revocation[],
  keys: readonly string[] = [],
): Promise<Looked> {
  const names = [GENERATION, ...asked.map(({ kind, id }) => revocationKey(kind, id)), ...keys];
  const [generation, ...found] =
    stretch() === undefined ? [] : await cache.getMany(names).catch(noneIfAway);
  if (generation !== undefined || (found.length > 0 && cache.mode === 'in_process')) {
    return {
      marked: asked.map((mark, at) => isEnded(mark, found[at])),
      values: found.slice(asked.length),
    };
  }
  const words = await ended(asked);
  const marked = asked.map(({ kind, id, at }, n) => words[n] !== false || marks.has(kind, id, at));
  return { marked, values: undefined };
}

const isEnded = ({ kind, at = 0 }: Revocation, value: string | undefined): boolean =>
  value !== undefined && (kind !== 'rank' || at < Number(value));

const noneIfAway = (error: unknown): readonly undefined[] => {
  unlessAway(error);
  return [];
};
