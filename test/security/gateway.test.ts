/** Every endpoint through nginx, in front of a server for each service. */
import { isInternal } from '@cardea/http';
import { type RestAnswer, restDriver, testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { needNginx } from '../need-nginx.ts';
import { askRaw } from '../raw-http.ts';
import { testCallers } from './callers.ts';
import { catalogueOf, successOf } from './catalogue.ts';
import { type Fortress, fortress } from './fortress.ts';
import { type Addresses, openAddresses } from './gateway-addresses.ts';
import { send, titleOf } from './sample.ts';
import { expectStatus } from './users.ts';

const command = needNginx();
const database = testDatabase();
let world: Fortress;
let addresses: Addresses;
let through: Fortress;
let poll: ReturnType<typeof undecidedPoll>;
beforeAll(async () => {
  if (command === undefined) return;
  world = await fortress({ databaseUrl: database.url });
  addresses = await openAddresses(world);
  const { endpoints } = world.host;
  through = { ...world, rest: restDriver({ baseUrl: addresses.gateway.url, endpoints }) };
  // The poll takes as long as it may, so it runs in parallel with all other requests.
  poll = undecidedPoll(through);
  poll.catch(() => undefined); // The promise is handled where it is awaited.
});
afterAll(async () => {
  await addresses?.stop();
  await world?.stop();
});

async function undecidedPoll({
  rest,
  a,
}: Fortress): Promise<{ readonly answer: RestAnswer; readonly seconds: number }> {
  const body = {
    agent_id: a.agentsAndKeys.agent.id,
    user_id: a.member.userId,
    action: 'write_data',
  };
  const { tenantId: tenant } = a;
  const made = await rest.post('/api/v1/ciba/requests', body, { bearer: a.owner.access, tenant });
  expectStatus(made, 201);
  const began = performance.now();
  const path = `/api/v1/ciba/requests/${made.body.id}/poll`;
  const answer = await rest.get(path, { bearer: a.member.access, tenant });
  return { answer, seconds: (performance.now() - began) / 1000 };
}

it('R0 O5 each endpoint is answered through nginx by its own service, in the shape of its contract', async () => {
  const wrong: string[] = [];
  const callers = testCallers(world);
  for (const entry of catalogueOf(world)) {
    const { endpoint, sample } = entry;
    if (isInternal(endpoint.contract)) continue;
    const as = callers.find(({ name }) => name === sample.by);
    const ask = await sample.ask(world);
    const { status, headers, text } = await send(through, endpoint, ask, {
      as,
      tenant: world.a.tenantId,
    });
    const by = headers.get('x-served-by');
    const owner = addresses.ownerOf(endpoint.contract.name);
    if (status !== successOf(entry)) wrong.push(`${titleOf(endpoint)}: ${status} ${text}`);
    if (by !== owner) wrong.push(`${titleOf(endpoint)}: by ${by}, not ${owner}`);
  }
  expect(wrong).toEqual([]);
});

it('R0 each endpoint refuses through nginx as it does without', async () => {
  const wrong: string[] = [];
  for (const { endpoint, sample } of catalogueOf(world)) {
    if (isInternal(endpoint.contract)) continue;
    const ask = await sample.ask(world);
    const straight = await send(world, endpoint, ask, { tenant: 'nobody' });
    const led = await send(through, endpoint, ask, { tenant: 'nobody' });
    if (led.status !== straight.status || led.code !== straight.code) {
      wrong.push(`${titleOf(endpoint)}: ${led.status} ${led.code}, not ${straight.status}`);
    }
    if (led.headers.get('x-served-by') !== addresses.ownerOf(endpoint.contract.name)) {
      wrong.push(`${titleOf(endpoint)}: by ${led.headers.get('x-served-by')}`);
    }
  }
  expect(wrong).toEqual([]);
});

it('R0 a large body that nobody will read does not hide the refusal', async () => {
  const path = '/api/v1/vault/services/x/secrets';
  const size = 7 * 1024 * 1024;
  const headers = ['Content-Type: application/json', `Content-Length: ${size}`];
  const body = ' '.repeat(size);
  for (let n = 0; n < 10; n += 1) {
    const answer = await askRaw(addresses.gateway.port, path, { method: 'PUT', headers, body });
    expect([answer.status, answer.headers['x-served-by']]).toEqual([401, 'vault']);
  }
});

it('R0 says by identity that it is healthy', async () => {
  for (const path of ['/health', '/health/db', '/health/cache']) {
    const { status, headers } = await through.rest.get(path);
    expect([path, status, headers.get('x-served-by')]).toEqual([path, 200, 'identity']);
  }
});

it('S21 refuses through nginx each method that a path does not take', async () => {
  for (const path of ['/health', '/api/v1/auth/me', '/api/v1/webhooks/x', '/api/v1/fga/check']) {
    const answer = await askRaw(addresses.gateway.port, path, { method: 'OPTIONS' });
    expect([path, answer.status]).toEqual([path, 405]);
    expect(answer.headers['allow']).toMatch(/^[A-Z, ]+$/);
  }
});

it('S25 serves the mailbox of development to nobody through nginx', async () => {
  const straight = await world.rest.get('/dev/mailbox');
  expect(straight.status).toBe(200);
  expect((await askRaw(addresses.gateway.port, '/dev/mailbox')).status).toBe(404);
});

it('R0 a service hears from the gateway who asks it, and not from the client', async () => {
  const { tenantId: tenant, owner } = world.a;
  const id = 'forged-by-the-client';
  const said = { 'x-forwarded-for': '203.0.113.9', 'x-request-id': id };
  const answer = await through.rest.get('/api/v1/auth/me', {
    bearer: owner.access,
    tenant,
    headers: said,
  });
  expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/);
  const email = world.newEmail();
  const body = { email, password: 'a long enough phrase', company_name: 'Forge' };
  const made = await through.rest.post('/api/v1/auth/signup', body, { headers: said });
  const bearer = made.body.access_token;
  const sessions = await through.rest.get('/api/v1/me/sessions', { bearer });
  expect(JSON.stringify(sessions.body)).not.toContain('203.0.113.9');
  expect(JSON.stringify(sessions.body)).toContain('127.0.0.1');
});

it('R0 a poll that waits as long as it may comes through nginx, undecided', async () => {
  const { answer, seconds } = await poll;
  expect([answer.status, answer.body.status]).toEqual([200, 'pending']);
  expect(answer.headers.get('x-served-by')).toBe('approval');
  expect(seconds).toBeGreaterThan(29);
});
