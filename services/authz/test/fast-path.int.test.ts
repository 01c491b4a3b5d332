/** Checks and filters are answered alike with the fast path and through Express alone (authz 22). */
import { connect } from 'node:net';
import { authzService } from '@cardea/authz';
import { type ServiceFixture, serviceFixture, testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Credentials, fastPathRequests, TENANT } from './fast-path-requests.ts';
import { adminOf } from './fga-client.ts';

const SECRETS = { JWT_SECRET: 'j'.repeat(40), ENCRYPTION_KEY: 'e0'.repeat(32) };
const LEAST = 300;
const WAIT_MS = 20_000;
const AT_ONCE = 8;

type Side = { readonly fixture: ServiceFixture; readonly credentials: Credentials };
const database = testDatabase();
let fast: Side;
let express: Side;

beforeAll(async () => {
  const databaseUrl = database.url;
  const started = async (HTTP_FAST_PATH: string): Promise<Side> => {
    const env = { ...SECRETS, HTTP_FAST_PATH };
    const fixture = await serviceFixture({ databaseUrl, definitions: [authzService], env });
    return { fixture, credentials: credentialsOf(fixture) };
  };
  [fast, express] = [await started('on'), await started('off')];
  const fga = adminOf(fast.fixture, TENANT);
  await fga.write('user:ann editor document:d1');
  const { headers } = await fga.write('group:g viewer document:d2');
  const token = headers.get('x-service-consistency') ?? '';
  for (const { fixture } of [fast, express]) {
    await untilTrue(async () => {
      const answer = await adminOf(fixture, TENANT).check('user:ann viewer document:d1');
      return answer.headers.get('x-service-consistency') === token;
    });
  }
});
afterAll(async () => {
  await fast?.fixture.stop();
  await express?.fixture.stop();
});

function credentialsOf({ tokens }: ServiceFixture): Credentials {
  const tenantId = TENANT;
  return {
    key: tokens.apiKey({ tenantId, scopes: ['fga:read'] }),
    keyWithoutScope: tokens.apiKey({ tenantId, scopes: [] }),
    user: tokens.user({ tenantId, id: 'ann' }),
    agent: tokens.agent({ tenantId, id: 'bot', sessionId: 's1' }),
    agentKey: tokens.agentKey({ tenantId, id: 'bot' }).key,
    foreign: tokens.user({ tenantId: 'other', id: 'eve' }),
  };
}

/** All that a socket answers until it is closed. */
function sent({ fixture }: Side, bytes: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(fixture.baseUrl).port), '127.0.0.1');
    const chunks: Buffer[] = [];
    const timer = setTimeout(() => socket.destroy(new Error('no answer')), WAIT_MS);
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(Buffer.concat(chunks).toString('latin1'));
    });
    socket.write(bytes);
  });
}

/** Without what differs between two equal requests to one server; recorded refusals move the log meanwhile. */
const comparable = (answer: string): string =>
  answer
    .replaceAll(/^X-Service-Consistency: authz-\d+/gm, 'X-Service-Consistency: authz-0')
    .replaceAll(/^Date: .*$/gm, 'Date: -')
    .replaceAll(/^X-Request-Id: .*$/gm, 'X-Request-Id: -')
    .replaceAll(/"request_id":"[^"]*"/g, '"request_id":"-"');

it('authz 22 are the same on both ways for every success, refusal and odd form', async () => {
  const requests = fastPathRequests();
  expect(requests.length).toBeGreaterThanOrEqual(LEAST);
  const statuses = new Set<string>();
  const different: object[] = [];
  const compare = async ({ name, bytes }: (typeof requests)[number]) => {
    const [one, other] = await Promise.all(
      [fast, express].map(async (side) => comparable(await sent(side, bytes(side.credentials)))),
    );
    statuses.add(one?.slice(9, 12) ?? '');
    if (one !== other || one === '') different.push({ name, one, other });
  };
  for (let at = 0; at < requests.length; at += AT_ONCE) {
    await Promise.all(requests.slice(at, at + AT_ONCE).map(compare));
  }
  expect(different).toEqual([]);
  expect([...statuses].sort()).toEqual([
    '100',
    '200',
    '400',
    '401',
    '403',
    '404',
    '405',
    '413',
    '415',
  ]);
});
