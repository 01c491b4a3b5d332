/**
 * Whether every published revocation has been received here, and what to ask where some may have been
 * missed.
 */
import { randomUUID } from 'node:crypto';
import type { Cache } from '@cardea/runtime';
import type { Mirror } from './revocations-mirror.ts';
import { CHANNEL, writeNotice } from './revocations-notice.ts';

export type Hearing = ReturnType<typeof hearingOf>;

export function hearingOf({ cache }: { readonly cache: Cache }, marks: Mirror) {
  /** A cache inside the process loses no message. */
  let whole = cache.mode === 'in_process';
  let deaf = false;
  let losses = 0;
  let asked: { readonly name: string; readonly since: number } | undefined;
  return {
    isDeaf: () => deaf,
    stretch: () => (whole ? losses : undefined),
    lost: (): void => {
      deaf = true;
      whole = false;
      losses += 1;
      asked = undefined;
    },
    healed: (): void => {
      deaf = false;
    },
    ask: async (): Promise<void> => {
      asked ??= { name: randomUUID(), since: marks.now() };
      await cache.publish(CHANNEL, writeNotice({ word: '?', names: [asked.name] }));
    },
    toldAll: (names: readonly string[]): void => {
      if (asked === undefined || !names.includes(asked.name)) return;
      marks.dropUntold(asked.since);
      whole = true;
      asked = undefined;
    },
    /** All revocations were read from the tables, starting when the number of losses was this one. */
    filled: (since: number, lossesThen: number): void => {
      if (deaf || losses !== lossesThen) return;
      marks.dropUntold(since);
      whole = true;
    },
    losses: () => losses,
  };
}
