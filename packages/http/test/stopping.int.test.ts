/** A stopping process as clients with open connections see it, for each of their methods. */
import { Agent, request } from 'node:http';
import { endpoint } from '@cardea/http';
import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import { startHttpFixture } from './http-fixture.ts';
import { sample } from './sample.ts';

describe('a process that stops', () => {
  it('H4 says in each answer that the connection closes, and closes no idle one before the stop', async () => {
    const own = await startHttpFixture();
    const agent = new Agent({ keepAlive: true, maxSockets: 2 });
    const open = () => asked(own.port, agent);
    const [first, second] = await Promise.all([open(), open()]);
    expect([first.connection, second.connection]).toEqual(['keep-alive', 'keep-alive']);
    own.drain();
    // Long enough to notice a connection that was closed.
    await new Promise((done) => setTimeout(done, 200));
    expect(Object.values(agent.freeSockets).flat()).toHaveLength(2);
    expect(await open()).toMatchObject({ status: 200, connection: 'close', isReused: true });
    expect(await open()).toMatchObject({ status: 200, connection: 'close', isReused: true });
    await own.stop();
    agent.destroy();
  });

  it('H4 loses no request of clients that go elsewhere once an answer says so', async () => {
    const own = await startHttpFixture();
    const agent = new Agent({ keepAlive: true });
    const lost: unknown[] = [];
    let answered = 0;
    const clients = Array.from({ length: 16 }, async (_, at) => {
      for (let isHere = true; isHere; ) {
        await new Promise((done) => setTimeout(done, at));
        try {
          const { status, connection } = await asked(own.port, agent);
          if (status === 200) answered += 1;
          isHere = connection !== 'close';
        } catch (error) {
          lost.push(error);
          isHere = false;
        }
      }
    });
    await waitFor(async () => answered > 200);
    own.drain();
    await Promise.all(clients);
    await own.stop();
    expect(lost).toEqual([]);
    agent.destroy();
  });
});

describe('HEAD', () => {
  let effects = 0;
  const link = endpoint(
    {
      tag: 'Development',
      tenant: 'none',
      who: 'anyone',
      name: 'follow_link',
      summary: 'Use a link up',
      method: 'get',
      path: '/links/{id}',
      params: Type.Object({ id: Type.String() }),
      repeat: 'get_only',
      ok: Type.Object({}),
      refusals: {},
    },
    async () => {
      effects += 1;
      return { ok: {} };
    },
  );

  it('is named by Allow where it is taken, and changes nothing where GET has effects', async () => {
    const own = await startHttpFixture([...sample, link]);
    try {
      const wrong = await own.call('DELETE', '/api/v1/notes');
      expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST, GET, HEAD']);
      const head = await fetch(`${own.base}/links/a`, { method: 'HEAD' });
      expect([head.status, head.headers.get('allow'), effects]).toEqual([405, 'GET', 0]);
      expect((await own.call('GET', '/links/a')).status).toBe(200);
      expect(effects).toBe(1);
    } finally {
      await own.stop();
    }
  });

  it('names the encodings that are taken where one is refused', async () => {
    const own = await startHttpFixture();
    try {
      const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
      const refused = await own.call('POST', '/api/v1/open', { body: 'x', headers });
      expect([refused.status, refused.headers.get('accept-encoding')]).toEqual([415, 'identity']);
    } finally {
      await own.stop();
    }
  });
});

type OverAgent = { status: number; connection: string | undefined; isReused: boolean };

function asked(port: number, agent: Agent): Promise<OverAgent> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'x-service-tenant': 't1' };
    const sent = request(
      { port, host: '127.0.0.1', agent, method: 'POST', path: '/api/v1/open', headers },
      (response) => {
        response.resume();
        const { statusCode: status = 0, headers: answer } = response;
        response.once('end', () =>
          resolve({ status, connection: answer.connection, isReused: sent.reusedSocket }),
        );
      },
    );
    sent.once('error', reject);
    sent.end('{"text":"x"}');
  });
}

const WAIT_MS = 60_000;
async function waitFor(condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + WAIT_MS;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('never came true');
    await new Promise((resolve) => setImmediate(resolve));
  }
}
