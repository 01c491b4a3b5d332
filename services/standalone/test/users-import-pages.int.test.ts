import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { secret } from '@cardea/runtime';
import { afterEach, describe, expect, it } from 'vitest';
import type { ForeignUser } from '../src/cli/user-import/foreign-user.ts';
import { importAccess } from '../src/cli/user-import/import-access.ts';
import { importUsers } from '../src/cli/user-import/import-users.ts';
import { sendPage } from '../src/cli/user-import/send-page.ts';

type Asked = {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
};
type Reply = { readonly status: number; readonly body?: object; readonly headers?: object };

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

/** An API that sends the given replies in order and repeats the last one. `null` closes the connection. */
async function api(...replies: readonly (Reply | null)[]) {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const reply = replies[Math.min(asked.length, replies.length - 1)];
    asked.push({ path: request.url ?? '', headers: request.headers, body });
    if (reply === null || reply === undefined) {
      request.socket.destroy();
      return;
    }
    response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
    response.end(JSON.stringify(reply.body ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(() => server.close());
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const access = { url, bearer: async () => secret('the token'), tenantOf: () => 'the tenant' };
  return { asked, url, access };
}
const users = [{ email: 'a@x.example' }, { email: 'b@x.example' }, { email: 'c@x.example' }];
const of = { key: 'page-1', signal: new AbortController().signal };
const DONE = { status: 200, body: { imported: 3, failed: [] } };
const failing = (code: string, details?: object) => ({ error: { code, details } });

describe('standards 9 a page of users', () => {
  it('waits as long as it is told to, and is then the same request', async () => {
    const { access, asked } = await api(
      { status: 429, headers: { 'Retry-After': '1' }, body: failing('rate_limited') },
      DONE,
    );
    const from = performance.now();
    expect((await sendPage(access)(users, of)).refused.size).toBe(0);
    expect(performance.now() - from).toBeGreaterThanOrEqual(990);
    expect(asked.map(({ headers }) => headers['idempotency-key'])).toEqual(['page-1', 'page-1']);
    expect(asked[0]?.body).toBe(asked[1]?.body);
    expect(asked[0]?.headers).toMatchObject({ 'x-service-tenant': 'the tenant' });
  });

  it('is sent again after a broken connection and a 503, for as often as it has patience', async () => {
    const { access, asked } = await api(
      null,
      { status: 503, headers: { 'Retry-After': '0' } },
      DONE,
    );
    await sendPage(access)(users, of);
    expect(asked).toHaveLength(3);
    const busy = await api({ status: 503, headers: { 'Retry-After': '0' } });
    await expect(sendPage(busy.access)(users, of)).rejects.toThrow('does not answer');
    expect(busy.asked).toHaveLength(12);
  });

  it('goes without those whose form the API refuses', async () => {
    const details = [{ field: 'users.1.display_name', rule: 'max_length' }];
    const { access, asked } = await api(
      { status: 400, body: failing('invalid_request', details) },
      { status: 200, body: { imported: 1, failed: [{ index: 1, code: 'forbidden' }] } },
    );
    const { refused } = await sendPage(access)(users, of);
    expect([...refused]).toEqual([
      [1, 'invalid_request'],
      [2, 'forbidden'],
    ]);
    expect(JSON.parse(asked[1]?.body ?? '').users).toEqual([users[0], users[2]]);
    expect(asked[1]?.headers['idempotency-key']).toBe('page-1-2');
  });

  it.each([
    [{ status: 403, body: failing('forbidden') }, 'the API answered 403 forbidden'],
    [{ status: 404, body: { message: '<script>' } }, 'the API answered 404 refused'],
    [{ status: 401, body: failing('step_up_required') }, 'sign in again'],
    [{ status: 400, body: failing('invalid_request', []) }, 'the API answered 400'],
  ])('ends with %o', async (reply, message) => {
    const { access, asked } = await api(reply);
    await expect(sendPage(access)(users, of)).rejects.toThrow(message);
    expect(asked).toHaveLength(1);
  });

  it('of a machine gets a new token where the one of before has ended', async () => {
    const token = (text: string) => {
      const claims = Buffer.from(JSON.stringify({ tid: 'own tenant' })).toString('base64url');
      return { status: 200, body: { access_token: `${text}.${claims}.x`, expires_in: 900 } };
    };
    const { url, asked } = await api(
      token('one'),
      { status: 401, body: failing('unauthenticated') },
      token('two'),
      DONE,
    );
    const access = importAccess({
      ...{ CARDEA_URL: url.href, CARDEA_CLIENT_ID: 'id', CARDEA_CLIENT_SECRET: 'own secret' },
    });
    await sendPage(access)(users, of);
    expect(asked.map(({ path }) => path)).toEqual([
      '/oauth2/token',
      '/api/v1/admin/users/import',
      '/oauth2/token',
      '/api/v1/admin/users/import',
    ]);
    expect(asked[3]?.headers.authorization).toMatch(/^Bearer two\./);
    expect(asked[3]?.headers['x-service-tenant']).toBe('own tenant');
  });
});

async function* people(count: number): AsyncGenerator<ForeignUser, void> {
  for (let at = 1; at <= count; at += 1) {
    yield { line: at, user: { email: `p${at}@x.example` }, notes: [] };
  }
}
const deps = (send: Parameters<typeof importUsers>[1]['send']) => ({
  ...{ check: ({ email }: { readonly email: string }) => ({ email }), send, runId: 'run' },
  ...{ refuse: () => undefined, note: () => undefined, signal: new AbortController().signal },
});

describe('standards 9 an import that stops', () => {
  it('says how far it came, and goes on where it was when it is run again', async () => {
    const first = await api(DONE, { status: 403, body: failing('forbidden') });
    await expect(importUsers(people(250), deps(sendPage(first.access)))).rejects.toThrow(
      'the API answered 403 forbidden (100 users imported, 0 were there before; run it again to go on)',
    );
    const there = Array.from({ length: 100 }, (_, index) => ({
      ...{ index, code: 'email_already_exists' },
    }));
    const second = await api({ status: 200, body: { imported: 0, failed: there } }, DONE);
    expect(await importUsers(people(250), deps(sendPage(second.access)))).toMatchObject({
      ...{ users: 250, imported: 150, already_there: 100, refused: 0 },
    });
    const sizes = second.asked.map(({ body }) => JSON.parse(body).users.length);
    expect(sizes).toEqual([100, 100, 50]);
  });

  it('by Ctrl-C ends after the page that is under way', async () => {
    const stop = new AbortController();
    const sent: number[] = [];
    const running = importUsers(people(250), {
      ...deps(async (page) => {
        sent.push(page.length);
        stop.abort();
        return { refused: new Map() };
      }),
      signal: stop.signal,
    });
    await expect(running).rejects.toThrow('stopped (100 users imported');
    expect(sent).toEqual([100]);
  });

  it('fills pages by bytes as well', async () => {
    const sizes: number[] = [];
    async function* large(): AsyncGenerator<ForeignUser, void> {
      for await (const each of people(60)) {
        if (!('user' in each)) continue;
        yield { ...each, user: { ...each.user, public_metadata: { a: 'x'.repeat(8_000) } } };
      }
    }
    await importUsers(large(), {
      ...deps(async (page) => {
        sizes.push(Buffer.byteLength(JSON.stringify({ users: page })));
        return { refused: new Map() };
      }),
    });
    expect(sizes.length).toBeGreaterThan(2);
    expect(Math.max(...sizes)).toBeLessThan(256 * 1_024);
  });
});
