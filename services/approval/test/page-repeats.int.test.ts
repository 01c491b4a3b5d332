/** Tests forms of pages whose responses are lost, and pages of another replica after a change. */
import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApprovalFixture, approvalFixture, type Tenant } from './approval-fixture.ts';
import { pageBrowser } from './page-browser.ts';

const database = testDatabase();
let fixture: ApprovalFixture;
/** Another process on the same database and log, with the same secrets. */
let other: ApprovalFixture;
let lossy: Server;
const answersLost: string[] = [];

beforeAll(async () => {
  const env = { JWT_SECRET: 'j'.repeat(40), ENCRYPTION_KEY: 'e0'.repeat(32) };
  fixture = await approvalFixture(database.url, { env });
  // The other process accepts the tokens of the first one.
  const { jwks } = fixture.host.needsOf('approval').peers.identity;
  other = await approvalFixture(database.url, { env, peers: { identity: { jwks } } });
  lossy = await losingAnswers([fixture, other]);
});
afterAll(async () => {
  lossy?.close();
  await fixture?.stop();
  await other?.stop();
});

/** Forwards requests to the replicas in turn, and breaks the connection after each response. */
async function losingAnswers(replicas: readonly ApprovalFixture[]): Promise<Server> {
  let turn = 0;
  const server = createServer(async (request, response) => {
    const { cookie = '', origin = '', 'content-type': type = '' } = request.headers;
    const replica = replicas[turn % replicas.length] ?? fixture;
    turn += 1;
    const answer = await fetch(replica.baseUrl + request.url, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie, origin, 'content-type': type, accept: 'text/html' },
      body: await buffer(request),
    });
    answersLost.push(`${answer.status} ${answer.headers.get('location')}`);
    response.destroy();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return server;
}

const PATH = '/account/channels';
const CHANNELS = '/api/v1/ciba/channels';
const TIMES = 200;
const TWO_MINUTES = 120_000;
const phone = { name: 'Phone', format: 'slack', url: 'https://hooks.slack.com/services/T0/B0/X' };
const annOf = ({ id }: Tenant) => fixture.tokens.user({ tenantId: id, id: 'ann' });

describe('people 9 a form of a page', () => {
  it.each([
    ['one after the other', false],
    ['at once', true],
  ] as const)(
    'that is pressed five times %s, and whose answers are lost, makes one object',
    async (_how, isAtOnce) => {
      const tenant = await fixture.people(isAtOnce ? 'lost-at-once' : 'lost-in-turn');
      const page = pageBrowser(fixture, annOf(tenant));
      const base = `http://127.0.0.1:${(lossy.address() as AddressInfo).port}`;
      const fields = { ...phone, form: 'create', key: randomUUID() };
      const press = () => page.press(PATH, fields, base);
      answersLost.length = 0;
      const presses: Promise<unknown>[] = [];
      for (let n = 0; n < 5; n += 1) {
        const pressed = press();
        presses.push(pressed);
        if (!isAtOnce) await pressed.catch(() => undefined);
      }
      const outcomes = await Promise.allSettled(presses);
      expect(outcomes.map(({ status }) => status)).toEqual(
        Array.from({ length: 5 }, () => 'rejected'),
      );
      expect(answersLost).toHaveLength(5);
      expect(answersLost).toContain(`303 ${PATH}?done=create`);
      // The sixth request gets a response, which equals the lost first one.
      const last = await page.press(PATH, fields);
      expect([last.status, last.location]).toEqual([303, `${PATH}?done=create`]);
      const { body } = await tenant.ann.get(CHANNELS);
      expect(body.channels).toHaveLength(1);
      const made = (await fixture.eventsOf(tenant.id)).filter(
        ({ type }) => type === 'ChannelCreated',
      );
      expect(made).toHaveLength(1);
      // Another form creates another object.
      await page.press(PATH, { ...fields, key: randomUUID() });
      expect((await tenant.ann.get(CHANNELS)).body.channels).toHaveLength(2);
    },
  );

  it(
    `that changed something is followed by a list that shows it, on the other replica, ${TIMES} times`,
    async () => {
      const tenant = await fixture.people('written');
      const page = pageBrowser(fixture, annOf(tenant));
      await page.press(PATH, { ...phone, form: 'create', name: 'Name 0' });
      const { body } = await tenant.ann.get(CHANNELS);
      const id = String(body.channels[0].id);
      const shown: number[] = [];
      for (let n = 1; n <= TIMES; n += 1) {
        const [here, there] = n % 2 === 0 ? [fixture, other] : [other, fixture];
        const names = { name: `Name ${n}`, 'was.name': `Name ${n - 1}` };
        const fields = { ...names, form: 'change', 'param.id': id };
        const changed = await page.press(PATH, fields, here.baseUrl);
        expect(changed.location, changed.text).toBe(`${PATH}?done=change`);
        const list = await page.get(PATH, there.baseUrl);
        if (list.text.includes(`Name ${n}<`)) shown.push(n);
      }
      expect(shown).toHaveLength(TIMES);
    },
    TWO_MINUTES,
  );
});
