import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { fakeClock } from '@cardea/runtime';
import { silentLogger } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { sendExport } from './send-export.ts';

async function* pagesOf(count: number): AsyncGenerator<string, void> {
  for (let page = 0; page < count; page += 1) yield `${page}\n`;
}

/** Sends pages. `log` has what was sent, and `turn` for each turn that was waited for. */
async function sent(pages: number): Promise<readonly string[]> {
  const log: string[] = [];
  const response = new Writable({
    decodeStrings: false,
    highWaterMark: 1,
    write: (page: string, _encoding, done) => {
      log.push(page.trim());
      setImmediate(done);
    },
  });
  const clock = fakeClock('2026-01-01T00:00:00Z');
  await sendExport({ clock, log: silentLogger }, response as unknown as ServerResponse, {
    text: pagesOf(pages),
    request: {
      signal: new AbortController().signal,
      nextPart: async () => void log.push('turn'),
    },
    brokenOff: { fields: {}, message: 'broken off' },
  });
  return log;
}

describe('the pages of an export', () => {
  it('C1 wait for turns of their tenant, each page after the first ones', async () => {
    const log = await sent(6);
    expect(log.filter((each) => each !== 'turn')).toEqual(['0', '1', '2', '3', '4', '5']);
    expect(log.filter((each) => each === 'turn')).toHaveLength(4);
    expect(log.slice(-2)).not.toEqual(['turn', 'turn']);
  });

  it('do not wait in a small export, which is a single part', async () => {
    expect(await sent(2)).toEqual(['0', '1']);
  });
});
