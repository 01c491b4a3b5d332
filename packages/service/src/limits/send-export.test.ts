import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { fakeClock } from '@cardea/runtime';
import { silentLogger } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { sendExport } from './send-export.ts';

async function* pagesOf(count: number): AsyncGenerator<string, void> {
  for (let page = 0; page < count; page += 1) yield `${page}\n`;
}

type Sending = Parameters<typeof sendExport>[2];

const send = (response: Writable, of: Pick<Sending, 'text'> & Partial<Sending['request']>) =>
  sendExport(
    { clock: fakeClock('2026-01-01T00:00:00Z'), log: silentLogger },
    response as unknown as ServerResponse,
    {
      text: of.text,
      request: { signal: new AbortController().signal, nextPart: async () => {}, ...of },
      brokenOff: { fields: {}, message: 'broken off' },
    },
  );

/** Sends pages. `log` has what was sent, and `turn` for each turn that was waited for. */
async function sent(pages: number): Promise<readonly string[]> {
  const log: string[] = [];
  const response = new Writable({
    decodeStrings: false,
    write: (page: string, _encoding, done) => {
      log.push(page.trim());
      setImmediate(done);
    },
  });
  await send(response, { text: pagesOf(pages), nextPart: async () => void log.push('turn') });
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

  it('are requested once the page before was sent, whose memory may then be used again', async () => {
    const memory = Buffer.alloc(1);
    const text = (async function* () {
      for (const digit of '0123') {
        memory.write(digit);
        yield memory;
      }
    })();
    let received = '';
    const response = new Writable({
      write: (page: Buffer, _encoding, done) => {
        setImmediate(() => {
          received += page;
          done();
        });
      },
    });
    await send(response, { text });
    expect(received).toBe('0123');
  });

  it('are no longer read when the client has disconnected and will never take the last one', async () => {
    let isClosed = false;
    const text = (async function* () {
      try {
        yield* pagesOf(3);
      } finally {
        isClosed = true;
      }
    })();
    const response = new Writable({ write: () => void setImmediate(() => response.destroy()) });
    await expect(send(response, { text })).rejects.toThrow('Premature close');
    expect(isClosed).toBe(true);
  });
});
