import { describe, expect, it } from 'vitest';
import { fakeClock } from '../clock.ts';
import type { Logger } from '../ports.ts';
import { shutdown } from './shutdown.ts';

function fixture() {
  const clock = fakeClock(new Date(0));
  const did: string[] = [];
  const note = (fields: object) => did.push(`log ${Object.values(fields).at(-1)}`);
  const log: Logger = { debug: note, info: note, warn: note, error: note, child: () => log };
  const exit = (code: number) => did.push(`exit ${code}`);
  const ending = shutdown({ clock, log, delayMs: 5000, timeoutMs: 25_000, exit });
  return { clock, did, ending };
}

describe('the end of a process', () => {
  it('waits while it is not ready, then stops last what was started first', async () => {
    const { clock, did, ending } = fixture();
    ending.onStop('database', () => void did.push('database'));
    ending.onStop('http', () => void did.push('http'));
    expect(ending.draining).toBe(false);
    ending.begin('SIGTERM');
    expect(ending.draining).toBe(true);
    await clock.advance(4999);
    expect(did).toEqual(['log SIGTERM']);
    await clock.advance(1);
    expect(did).toEqual(['log SIGTERM', 'http', 'database', 'exit 0']);
    await clock.advance(60_000);
    expect(did.at(-1)).toBe('exit 0');
  });

  it('names what hangs and exits without it', async () => {
    const { clock, did, ending } = fixture();
    ending.onStop('relay', () => new Promise(() => {}));
    ending.begin('SIGTERM');
    await clock.advance(25_000);
    expect(did).toEqual(['log SIGTERM', 'log relay', 'exit 1']);
  });

  it('goes on past a part that fails, and says so', async () => {
    const { clock, did, ending } = fixture();
    ending.onStop('database', () => void did.push('database'));
    ending.onStop('relay', () => Promise.reject(new Error('broken')));
    ending.begin('SIGINT');
    await clock.advance(5000);
    expect(did).toEqual(['log SIGINT', 'log relay', 'database', 'exit 1']);
  });

  it('takes signals within a second for one, and a later one at its word', async () => {
    const { clock, did, ending } = fixture();
    ending.begin('SIGINT');
    await clock.advance(900);
    ending.begin('SIGTERM');
    expect(did).toEqual(['log SIGINT']);
    await clock.advance(200);
    ending.begin('SIGINT');
    expect(did).toEqual(['log SIGINT', 'exit 1']);
  });
});
