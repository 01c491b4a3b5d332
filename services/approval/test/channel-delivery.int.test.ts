/** Messages to channels, their retries and their end, against receivers on loopback. */
import { testDatabase, untilTrue, type WebhookSink, webhookSink } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ApprovalFixture,
  approvalFixture,
  noticesCounted,
  type Tenant,
  userEvent,
  wanted,
} from './approval-fixture.ts';
import { type NtfyServer, ntfyServer, subscribe } from './ntfy-server.ts';
import { person, SET, setWorld } from './set-world.ts';

const database = testDatabase();
const lines: string[] = [];
const sinks: WebhookSink[] = [];
let fixture: ApprovalFixture;
let push: NtfyServer;
beforeAll(async () => {
  push = await ntfyServer();
  const world = setWorld();
  world.members.add('ann');
  world.people.set(...person('ann'));
  const { peers } = world;
  fixture = await approvalFixture(database.url, { onLog: (line) => lines.push(line), peers });
});
afterAll(async () => {
  await fixture?.stop();
  await push?.close();
  await Promise.all(sinks.map((sink) => sink.close()));
});

const CHANNELS = '/api/v1/ciba/channels';
const REQUESTS = '/api/v1/ciba/requests';

async function receiver(): Promise<WebhookSink> {
  const sink = await webhookSink();
  sinks.push(sink);
  return sink;
}

async function channelAt(admin: Tenant['admin'], url: string, more: object = {}): Promise<string> {
  const made = await admin.post(CHANNELS, { name: 'Ops', format: 'slack', url, ...more });
  expect(made.status).toBe(201);
  return made.body.id;
}

const stateOf = async (of: Tenant['admin'], id: string) =>
  (await of.get(CHANNELS)).body.channels.find((each: { id: string }) => each.id === id);

async function outcomes(tenant: Tenant, requestId: string) {
  const events = await fixture.eventsOf(tenant.id);
  return events
    .filter(({ streamId }) => streamId === `request-${requestId}`)
    .filter(({ type }) => type.startsWith('Notification'))
    .map(({ type, data }) => `${type} ${(data as { channel: string }).channel}`)
    .filter((text) => !text.endsWith('email'));
}

describe('approval 32 a request is told', () => {
  it('in the chat of the tenant: agent, service, fields, person and page; no reason and no code', async () => {
    const tenant = await fixture.people('chat');
    const sink = await receiver();
    const id = await channelAt(tenant.admin, `${sink.url}/hook/SECRETPATH`);
    const opened = await fixture.open(tenant.id, {
      digest: 'd1',
      fields: ['token', 'user'],
      purpose: 'to deploy everything',
    });
    const { body, path } = await sink.waitFor(({ body }) => body.includes('Deploy Bot'));
    expect(path).toBe('/hook/SECRETPATH');
    for (const text of [
      'github',
      'token, user',
      'high',
      'ann',
      'UTC',
      `/approve/${opened['id']}?in=chat`,
    ]) {
      expect(body).toContain(text);
    }
    const [, code = 'none'] = /code (\d{4})/.exec(String(opened['binding_message'])) ?? [];
    for (const text of ['to deploy', 'ann@example.com', '10.0.0.1', code]) {
      expect(body).not.toContain(text);
    }
    await untilTrue(async () => (await outcomes(tenant, String(opened['id']))).length === 1);
    expect(await outcomes(tenant, String(opened['id']))).toEqual(['NotificationSent chat']);
    const { last_sent_at, last_error } = await untilTrue(async () => {
      const state = await stateOf(tenant.admin, id);
      return state.last_sent_at !== null && state;
    });
    expect([Number.isNaN(Date.parse(last_sent_at)), last_error]).toEqual([false, null]);
    expect(JSON.stringify(await tenant.admin.get(CHANNELS))).not.toContain('SECRETPATH');
    expect(lines.join('\n')).not.toContain('SECRETPATH');
  });

  it.each([
    { name: 'Ann Example', shown: 'Ann Example' },
    { name: null, shown: 'a person without a name' },
  ])('with the name of its person, $name, and never with the address or the id', async (of) => {
    const tenant = await fixture.people(`named-${of.name === null}`);
    const user = { via: 'admin', vouched: true, display_name: of.name };
    await fixture.publish(userEvent(tenant.id, 'usr-carol', 'user.created', user));
    const sink = await receiver();
    await channelAt(tenant.admin, sink.url);
    await untilTrue(async () => (await known(tenant.id, 'usr-carol')) === 1);
    const asked = await tenant.admin.post(REQUESTS, wanted({ user_id: 'usr-carol' }));
    expect(asked.status).toBe(201);
    const { body } = await sink.waitFor(() => true);
    expect(body).toContain(of.shown);
    expect(body).not.toContain('usr-carol');
    await untilTrue(async () => (await outcomes(tenant, asked.body.id)).length === 1);
  });

  it('on the phone of a person, who subscribes by ntfy’s own protocol', async () => {
    const tenant = await fixture.people('phone');
    push.protect('ann-phone', 'tk_ann');
    const phone = await subscribe(`${push.url}/ann-phone`, 'tk_ann');
    const url = `${push.url}/ann-phone`;
    const of = { name: 'Phone', format: 'ntfy', url, token: 'tk_ann' };
    expect((await tenant.ann.post(CHANNELS, of)).status).toBe(201);
    await tenant.admin.post(REQUESTS, wanted({ user_id: 'bob' }));
    const asked = await tenant.admin.post(REQUESTS, wanted({ severity: 'high' }));
    const message = await untilTrue(() => phone.messages[0]);
    expect(message).toMatchObject({
      topic: 'ann-phone',
      title: 'An administrator asks for a decision in the name of Deploy Bot',
      priority: 4,
      click: expect.stringContaining(`/approve/${asked.body.id}?in=phone`),
    });
    expect(message.message).toContain('Action: write_data');
    await untilTrue(async () => (await outcomes(tenant, asked.body.id)).length === 1);
    expect(phone.messages).toHaveLength(1);
    phone.close();
  });

  it('to a set: in the chats of everybody and of that set alone', async () => {
    const tenant = await fixture.people('sets');
    const [all, payments, admins] = await Promise.all([receiver(), receiver(), receiver()]);
    await channelAt(tenant.admin, all.url);
    const id = await channelAt(tenant.admin, payments.url, { recipient: { set: SET } });
    await channelAt(tenant.admin, admins.url, { recipient: { set: 'role:admin' } });
    expect((await stateOf(tenant.admin, id)).recipient).toEqual({ set: SET });
    const asked = await tenant.admin.post(REQUESTS, wanted({ user_id: SET }));
    expect(asked.status).toBe(201);
    const { body } = await payments.waitFor(() => true);
    expect(body).toContain(`/approve/${asked.body.id}`);
    expect(body).toContain(SET);
    await all.waitFor(() => true);
    const own = await tenant.admin.post(REQUESTS, wanted());
    await all.waitFor((told) => told.body.includes(`/approve/${own.body.id}`));
    expect([payments, admins].map(({ received }) => received.length)).toEqual([1, 0]);
  });

  it('by the severity, the recipient and the setting of the tenant alone', async () => {
    const tenant = await fixture.people('chosen');
    const [all, high, bobs, off] = await Promise.all([
      receiver(),
      receiver(),
      receiver(),
      receiver(),
    ]);
    await channelAt(tenant.admin, all.url);
    await channelAt(tenant.admin, high.url, { min_severity: 'high' });
    await channelAt(tenant.admin, bobs.url, { recipient: { user_id: 'bob' } });
    const disabled = await channelAt(tenant.admin, off.url);
    await tenant.admin.patch(`${CHANNELS}/${disabled}`, { enabled: false });
    await tenant.admin.post(REQUESTS, wanted({ severity: 'medium' }));
    await all.waitFor(() => true);
    await tenant.admin.post(REQUESTS, wanted({ user_id: 'bob', severity: 'high' }));
    await Promise.all([high, bobs].map((sink) => sink.waitFor(() => true)));
    expect([high, bobs, off].map(({ received }) => received.length)).toEqual([1, 1, 0]);

    await fixture.publish({
      source: 'identity',
      type: 'tenant.updated',
      tenantId: tenant.id,
      streamId: `tenant-${tenant.id}`,
      data: tenantData(tenant.id, ['email']),
    });
    await untilTrue(async () => {
      const { rowCount } = await fixture.shared.database.system.query(
        `SELECT 1 FROM approval.tenants WHERE tenant_id = $1 AND channels = ARRAY['email']`,
        [tenant.id],
      );
      return rowCount === 1;
    });
    const before = high.received.length;
    const last = await tenant.admin.post(REQUESTS, wanted({ severity: 'high' }));
    await untilTrue(async () =>
      (await fixture.eventsOf(tenant.id)).some(
        ({ type, streamId }) =>
          type === 'NotificationSent' && streamId === `request-${last.body.id}`,
      ),
    );
    expect(await outcomes(tenant, last.body.id)).toEqual([]);
    expect(high.received.length).toBe(before);
  });

  it('not when it was decided before', async () => {
    const tenant = await fixture.people('decided');
    const sink = await receiver();
    sink.answerWith(() => ({ status: 503 }));
    const id = await channelAt(tenant.admin, sink.url);
    const { body } = await tenant.admin.post(REQUESTS, wanted());
    await untilTrue(async () => (await stateOf(tenant.admin, id)).last_error === 'status_503');
    await tenant.ann.post(`${REQUESTS}/${body.id}/deny`);
    sink.answerWith(() => ({ status: 200 }));
    fixture.clock.move(10_000);
    await untilTrue(async () => (await waiting(tenant.id)) === 0);
    expect(sink.received).toHaveLength(1);
    expect(await outcomes(tenant, body.id)).toEqual([]);
  });
});

describe('approval 32 a receiver', () => {
  it('that is away is tried again after 5 s, 30 s and 2 minutes', async () => {
    const tenant = await fixture.people('away');
    const sink = await receiver();
    sink.answerWith(() => ({ status: 500 }));
    const id = await channelAt(tenant.admin, sink.url);
    const counted = () =>
      Promise.all(['failed', 'sent'].map((outcome) => noticesCounted('approval_chat', outcome)));
    const [failedBefore = 0, sentBefore = 0] = await counted();
    const { body } = await tenant.admin.post(REQUESTS, wanted({ ttl_seconds: 3_600 }));
    for (const [count, pauseMs] of [
      [1, 5_000],
      [2, 30_000],
      [3, 120_000],
      [4, 120_000],
    ] as const) {
      await untilTrue(async () => (await failures(tenant.id, id)) === count);
      expect(sink.received).toHaveLength(count);
      expect(await pauseOf(tenant.id, id)).toBe(pauseMs);
      fixture.clock.move(pauseMs);
    }
    sink.answerWith(() => ({ status: 200 }));
    fixture.clock.move(120_000);
    await untilTrue(async () => (await outcomes(tenant, body.id)).length === 1);
    await untilTrue(async () => (await failures(tenant.id, id)) === 0);
    expect(await counted()).toEqual([failedBefore + 4, sentBefore + 1]);
  });

  it('that asks for time by 429 gets it', async () => {
    const tenant = await fixture.people('slow');
    const sink = await receiver();
    sink.answerWith(() => ({ status: 429, headers: { 'Retry-After': '77' } }));
    const id = await channelAt(tenant.admin, sink.url);
    await tenant.admin.post(REQUESTS, wanted());
    await untilTrue(async () => (await stateOf(tenant.admin, id)).last_error === 'status_429');
    expect(await pauseOf(tenant.id, id)).toBe(77_000);
  });

  it.each([400, 403, 404, 410, 302])(
    'that answers %d gets no second message about it',
    async (status) => {
      const tenant = await fixture.people(`final-${status}`);
      const [sink, target] = await Promise.all([receiver(), receiver()]);
      sink.answerWith(() => ({ status, headers: { Location: target.url } }));
      const id = await channelAt(tenant.admin, sink.url);
      const before = await noticesCounted('approval_chat', 'rejected');
      const { body } = await tenant.admin.post(REQUESTS, wanted());
      await untilTrue(async () => (await outcomes(tenant, body.id)).length === 1);
      expect(await outcomes(tenant, body.id)).toEqual(['NotificationFailed chat']);
      expect(await noticesCounted('approval_chat', 'rejected')).toBe(before + 1);
      await untilTrue(
        async () => (await stateOf(tenant.admin, id)).last_error === `status_${status}`,
      );
      fixture.clock.move(600_000);
      sink.answerWith(() => ({ status: 200 }));
      expect((await tenant.admin.post(`${CHANNELS}/${id}/test`)).status).toBe(202);
      await untilTrue(async () => (await stateOf(tenant.admin, id)).last_error === null);
      expect(sink.received).toHaveLength(2);
      expect(target.received).toHaveLength(0);
    },
  );

  it('that hangs is left after 10 s, and delays no other channel', async () => {
    const tenant = await fixture.people('hangs');
    const [hanging, other] = await Promise.all([receiver(), receiver()]);
    hanging.answerWith(() => new Promise(() => {}));
    const id = await channelAt(tenant.admin, hanging.url);
    await channelAt(tenant.admin, other.url);
    const startMs = performance.now();
    await tenant.admin.post(REQUESTS, wanted());
    await other.waitFor(() => true);
    expect(performance.now() - startMs).toBeLessThan(8_000);
    await untilTrue(async () => (await stateOf(tenant.admin, id)).last_error === 'timeout', {
      deadlineMs: 20_000,
    });
  });

  it('that is tested says so, also while the channel is disabled; a failed test is not repeated', async () => {
    const tenant = await fixture.people('tested');
    const sink = await receiver();
    const id = await channelAt(tenant.admin, sink.url);
    await tenant.admin.patch(`${CHANNELS}/${id}`, { enabled: false });
    expect((await tenant.admin.post(`${CHANNELS}/${id}/test`)).body).toEqual({ status: 'queued' });
    await sink.waitFor(({ body }) => body.includes('Test message'));
    sink.answerWith(() => ({ status: 500 }));
    await tenant.admin.post(`${CHANNELS}/${id}/test`);
    await untilTrue(async () => (await stateOf(tenant.admin, id)).last_error === 'status_500');
    expect(await waiting(tenant.id)).toBe(0);
  });
});

describe('approval 32 a thousand requests in a minute', () => {
  it('are a few messages, a second apart, that count what waits', async () => {
    const tenant = await fixture.people('flood');
    const sink = await receiver();
    await channelAt(tenant.admin, sink.url);
    const admins = Array.from({ length: 4 }, (_, index) =>
      fixture.rest.as({
        tenant: tenant.id,
        bearer: fixture.tokens.user({ tenantId: tenant.id, id: `adm${index}`, roles: ['admin'] }),
      }),
    );
    await Promise.all(
      admins.map(async (admin) => {
        for (let count = 0; count < 250; count += 1) {
          const asked = await admin.post(REQUESTS, wanted({ ttl_seconds: 86_400 }));
          expect(asked.status).toBe(201);
        }
      }),
    );
    await untilTrue(async () => (await waiting(tenant.id)) === 0, { deadlineMs: 60_000 });
    const { received } = sink;
    expect(received.length).toBeLessThan(120);
    const gaps = received
      .slice(1)
      .map(({ at }, index) => at.getTime() - Number(received[index]?.at));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(950);
    const counted = received.filter(({ body }) => /\d+\+? more requests wait/.test(body));
    expect(counted.length).toBeGreaterThan(0);
  }, 180_000);
});

async function count(sql: string, ...values: readonly string[]): Promise<number> {
  const { rows } = await fixture.shared.database.system.query<{ n: number }>(sql, values);
  return rows[0]?.n ?? 0;
}
const known = (tenantId: string, id: string) =>
  count(
    'SELECT count(*)::int AS n FROM approval.users WHERE tenant_id = $1 AND user_id = $2',
    tenantId,
    id,
  );
const waiting = (tenantId: string) =>
  count('SELECT count(*)::int AS n FROM approval.channel_jobs WHERE tenant_id = $1', tenantId);
const failures = (tenantId: string, id: string) =>
  count(
    'SELECT failures AS n FROM approval.channel_states WHERE tenant_id = $1 AND channel_id = $2',
    tenantId,
    id,
  );
const pauseOf = (tenantId: string, id: string) =>
  count(
    `SELECT (extract(epoch FROM next_at - attempted_at) * 1000)::int AS n
     FROM approval.channel_states WHERE tenant_id = $1 AND channel_id = $2`,
    tenantId,
    id,
  );

const tenantData = (id: string, approval_channels: readonly string[]) => ({
  id,
  organization_id: 'o1',
  name: id,
  slug: id,
  display_name: id,
  environment: 'development',
  approval_channels,
  created_at: '2026-01-01T00:00:00.000Z',
  changed: ['settings'],
});
