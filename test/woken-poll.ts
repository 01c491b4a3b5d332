/**
 * Long polls that are notified of a decision, rather than finding it when they read again by themselves.
 */
import { type RestAnswer, untilTrue } from '@cardea/testing';
import { expect } from 'vitest';

/** The time after which an open poll reads again. */
const LOOKS_AGAIN_MS = 5_000;
/** A poll that took longer, on a busy machine, proves nothing either way. */
const POLLS_MAX = 8;

export type PollToWake = {
  open(): Promise<RestAnswer>;
  decide(): Promise<RestAnswer>;
};

/** Each poll is about a separate request. No other poll may wait at the process of this management port. */
export async function expectWoken(
  management: string,
  ask: () => Promise<PollToWake>,
): Promise<void> {
  const tookMs: number[] = [];
  do {
    const { open, decide } = await ask();
    const openedMs = performance.now();
    const polled = open();
    polled.catch(() => undefined); // The promise is handled where it is awaited.
    await untilTrue(() => waits(management), { what: 'the poll waits' });
    expect((await decide()).status).toBe(200);
    expect((await polled).body.status).toBe('approved');
    tookMs.push(performance.now() - openedMs);
  } while (Math.min(...tookMs) >= LOOKS_AGAIN_MS && tookMs.length < POLLS_MAX);
  expect(Math.min(...tookMs)).toBeLessThan(LOOKS_AGAIN_MS);
}

async function waits(management: string): Promise<boolean> {
  const text = await (await fetch(`${management}/metrics`)).text();
  return /^cardea_long_polls_open 1$/m.test(text);
}
