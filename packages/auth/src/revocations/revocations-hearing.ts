/** Tracks whether every published revocation has been received, and what to request if some may have been missed. */
import { randomUUID } from 'node:crypto';
import type { Cache } from '@cardea/runtime';
import type { Mirror } from './revocations-mirror.ts';
import { QUESTIONS, writeNotice } from './revocations-notice.ts';

export type Hearing = ReturnType<typeof hearingOf>;

export function hearingOf({ cache }: { readonly cache: Cache }, list: Mirror) {
  /** A cache inside the process loses no message. */
  let whole = cache.mode === 'in_process';
  let disconnected = false;
  let losses = 0;
  let question: { readonly name: string; readonly since: number } | undefined;
  return {
    isDisconnected: () => disconnected,
    subscriptionEpoch: () => (whole ? losses : undefined),
    lost: (): void => {
      disconnected = true;
      whole = false;
      losses += 1;
      question = undefined;
    },
    healed: (): void => {
      disconnected = false;
    },
    ask: async (): Promise<void> => {
      question ??= { name: randomUUID(), since: list.now() };
      await cache.publish(QUESTIONS, writeNotice({ word: '?', names: [question.name] }));
    },
    confirmed: (names: readonly string[]): void => {
      if (question === undefined || !names.includes(question.name)) return;
      list.dropUnconfirmed(question.since);
      whole = true;
      question = undefined;
    },
    /** Records that all revocations were read from the tables, starting when the number of losses was `lossesThen`. */
    filled: (since: number, lossesThen: number): void => {
      if (disconnected || losses !== lossesThen) return;
      list.dropUnconfirmed(since);
      whole = true;
    },
    losses: () => losses,
  };
}
