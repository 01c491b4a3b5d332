/**
 * Channels over REST: who creates and sees which, what no response, event or row may contain, and what deletes them.
 */
import { randomUUID } from 'node:crypto';
import { rebuildProjection } from '@cardea/read-models';
import { testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { channelsTable } from '../src/channels/channels.projection.ts';
import { type ApprovalFixture, approvalFixture, userEvent } from './approval-fixture.ts';

const database = testDatabase();
const lines: string[] = [];
let fixture: ApprovalFixture;
beforeAll(async () => {
  fixture = await approvalFixture(database.url, { onLog: (line) => lines.push(line) });
});
afterAll(async () => {
  await fixture?.stop();
});

const CHANNELS = '/api/v1/ciba/channels';
const SECRET = 'T0SECRETB0SECRETXXX';
const SLACK = `https://hooks.slack.com/services/${SECRET}`;
const TOKEN = 'tk_verysecrettoken';
const slack = (more: object = {}) => ({ name: 'Ops', format: 'slack', url: SLACK, ...more });
const ntfy = (more: object = {}) => ({
  name: 'Phone',
  format: 'ntfy',
  url: 'https://ntfy.example/topic-1',
  ...more,
});
const told = ({ status, code }: { status: number; code: string | undefined }) =>
  `${status} ${code}`;

const textOf = (value: unknown): string =>
  JSON.stringify(value, (_key, each) => (typeof each === 'bigint' ? String(each) : each));

async function published(tenantId: string, prefix: string) {
  const { rows } = await fixture.shared.database.system.query<{ type: string; data: object }>(
    `SELECT value->>'type' AS type, value->'data' AS data FROM bus.records
     WHERE topic = 'cardea.approval.events.v1' AND value->>'tenantId' = $1
       AND value->>'type' LIKE $2 ORDER BY "offset"`,
    [tenantId, `${prefix}%`],
  );
  return rows;
}

describe('channels', () => {
  it('approval 32 are made, listed, changed and deleted, and show the origin of their URL alone', async () => {
    const { admin, id: tenant } = await fixture.people('made');
    const made = await admin.post(CHANNELS, ntfy({ token: TOKEN, min_severity: 'medium' }));
    expect(made.status).toBe(201);
    const { id } = made.body;
    const shown = {
      id,
      name: 'Phone',
      format: 'ntfy',
      origin: 'https://ntfy.example',
      recipient: 'all',
      min_severity: 'medium',
      enabled: true,
      created_at: expect.any(String),
      last_sent_at: null,
      last_error: null,
    };
    expect(made.body).toEqual(shown);
    expect((await admin.get(CHANNELS)).body).toEqual({ channels: [shown] });

    const changed = await admin.patch(`${CHANNELS}/${id}`, { name: 'Night', enabled: false });
    expect(changed.body).toEqual({ ...shown, name: 'Night', enabled: false });
    expect(told(await admin.patch(`${CHANNELS}/${id}`, {}))).toBe('400 invalid_request');
    const moved = await admin.patch(`${CHANNELS}/${id}`, { url: 'https://push.example/topic-2' });
    expect(moved.body.origin).toBe('https://push.example');

    expect((await admin.delete(`${CHANNELS}/${id}`)).body).toEqual({ status: 'channel deleted' });
    for (const gone of [
      await admin.delete(`${CHANNELS}/${id}`),
      await admin.patch(`${CHANNELS}/${id}`, { enabled: true }),
      await admin.post(`${CHANNELS}/${id}/test`),
      await admin.post(`${CHANNELS}/${randomUUID()}/test`),
    ]) {
      expect(told(gone)).toBe('404 channel_not_found');
    }
    const data = {
      channel_id: id,
      format: 'ntfy',
      origin: 'https://ntfy.example',
      recipient: null,
    };
    const events = await untilTrue(async () => {
      const all = await published(tenant, 'channel.');
      return all.length === 4 ? all : undefined;
    });
    expect(events).toMatchObject([
      { type: 'channel.created', data },
      { type: 'channel.changed', data: { ...data, changed: ['name', 'enabled'] } },
      {
        type: 'channel.changed',
        data: { ...data, origin: 'https://push.example', changed: ['url', 'token'] },
      },
      { type: 'channel.deleted', data: { ...data, origin: 'https://push.example' } },
    ]);
    const names = ['channel_id', 'context', 'format', 'origin', 'recipient'];
    expect(Object.keys(events[0]?.data ?? {}).toSorted()).toEqual(names);
  });

  it('approval 32 keep URL and token out of each event and row', async () => {
    const { admin, id: tenant } = await fixture.people('hidden');
    const { body } = await admin.post(CHANNELS, slack());
    await admin.post(CHANNELS, ntfy({ token: TOKEN }));
    await admin.patch(`${CHANNELS}/${body.id}`, { url: `${SLACK}2` });
    const { rows } = await fixture.shared.database.system.query(
      `SELECT c::text AS row FROM approval.channels c WHERE tenant_id = $1`,
      [tenant],
    );
    const all = [textOf(await fixture.eventsOf(tenant)), textOf(rows), textOf(lines)];
    await untilTrue(async () => (await published(tenant, 'channel.')).length === 3);
    all.push(textOf(await published(tenant, '')));
    for (const text of all) {
      expect(text).not.toContain(SECRET);
      expect(text).not.toContain(TOKEN);
      expect(text).not.toContain('topic-1');
    }
  });

  it('a new URL drops the token unless one is sent with it', async () => {
    const { admin, id: tenant } = await fixture.people('tokens');
    const { body } = await admin.post(CHANNELS, ntfy({ token: TOKEN }));
    const hasToken = async () => {
      const { rows } = await fixture.shared.database.system.query<{ has: boolean }>(
        'SELECT token IS NOT NULL AS has FROM approval.channels WHERE tenant_id = $1 AND id = $2',
        [tenant, body.id],
      );
      return rows[0]?.has;
    };
    await admin.patch(`${CHANNELS}/${body.id}`, { name: 'Other' });
    expect(await hasToken()).toBe(true);
    await admin.patch(`${CHANNELS}/${body.id}`, { url: 'https://other.example/topic' });
    expect(await hasToken()).toBe(false);
    const url = 'https://third.example/topic';
    await admin.patch(`${CHANNELS}/${body.id}`, { url, token: 'tk_2' });
    expect(await hasToken()).toBe(true);
    await admin.patch(`${CHANNELS}/${body.id}`, { token: null });
    expect(await hasToken()).toBe(false);
  });

  it.each([
    [slack({ url: 'http://hooks.slack.com/x' }), 'invalid_url https'],
    [slack({ url: 'https://10.0.0.1/x' }), 'invalid_url private_address'],
    [slack({ url: 'https://user@hooks.slack.com/x' }), 'invalid_url userinfo'],
    [slack({ url: 'https://intranet/x' }), 'invalid_url host'],
    [ntfy({ url: 'https://ntfy.example/' }), 'invalid_url topic'],
    [ntfy({ url: 'https://ntfy.example/a/b' }), 'invalid_url topic'],
    [slack({ token: TOKEN }), 'invalid_request format'],
    [slack({ name: 'a\u202Eb' }), 'invalid_request readable'],
    [ntfy({ token: 'a\r\nX: y' }), 'invalid_request pattern'],
    [slack({ format: 'pigeon' }), 'invalid_request enum'],
    [slack({ name: '' }), 'invalid_request min_length'],
    [slack({ recipient: { set: 'payments' } }), 'invalid_request format'],
    [slack({ recipient: { user_id: 'role:admin' } }), 'invalid_request format'],
  ])('are refused in another form: %j', async (body, expected) => {
    const { admin } = await fixture.people('forms');
    const answer = await admin.post(CHANNELS, body);
    expect(`${told(answer)} ${answer.body.error.details[0]?.rule}`).toBe(`400 ${expected}`);
  });

  it('are a person’s own for what is asked of them, three of them, and nobody else’s', async () => {
    const { ann, bob, admin } = await fixture.people('own');
    const made = await ann.post(CHANNELS, slack());
    expect([made.status, made.body.recipient]).toEqual([201, { user_id: 'ann' }]);
    const { id } = made.body;
    for (const recipient of ['all', { user_id: 'bob' }, { set: 'role:member' }]) {
      expect(told(await ann.post(CHANNELS, slack({ recipient })))).toBe('403 forbidden');
    }
    for (const other of [bob, admin]) {
      expect((await other.get(CHANNELS)).body).toEqual({ channels: [] });
      for (const answer of [
        await other.patch(`${CHANNELS}/${id}`, { enabled: false }),
        await other.delete(`${CHANNELS}/${id}`),
        await other.post(`${CHANNELS}/${id}/test`),
      ]) {
        expect(told(answer)).toBe('404 channel_not_found');
      }
    }
    await ann.post(CHANNELS, slack({ recipient: { user_id: 'ann' } }));
    await ann.post(CHANNELS, slack());
    expect(told(await ann.post(CHANNELS, slack()))).toBe('409 too_many_channels');
    expect((await bob.post(CHANNELS, slack())).status).toBe(201);
  });

  it('are twenty of a tenant, whose members neither see nor change them', async () => {
    const { ann, admin } = await fixture.people('many');
    const [first] = await Promise.all(
      Array.from({ length: 19 }, () => admin.post(CHANNELS, slack())),
    );
    const ofBob = await admin.post(CHANNELS, slack({ recipient: { user_id: 'bob' } }));
    expect([ofBob.status, ofBob.body.recipient]).toEqual([201, { user_id: 'bob' }]);
    expect(told(await admin.post(CHANNELS, slack()))).toBe('409 too_many_channels');
    const own = await admin.post(CHANNELS, slack({ recipient: { user_id: 'adm' } }));
    expect(own.status).toBe(201);
    expect((await ann.get(CHANNELS)).body).toEqual({ channels: [] });
    expect(told(await ann.delete(`${CHANNELS}/${first?.body.id}`))).toBe('404 channel_not_found');
    const unknown = await admin.post(CHANNELS, slack({ recipient: { user_id: 'nobody' } }));
    expect(told(unknown)).toBe('404 user_not_found');
  });

  it('are managed by people in person alone', async () => {
    const { bot, id: tenant } = await fixture.people('callers');
    expect(told(await bot.get(CHANNELS))).toBe('401 user_session_required');
    expect(told(await bot.post(CHANNELS, slack()))).toBe('401 user_session_required');
    const old = fixture.rest.as({
      tenant,
      bearer: fixture.tokens.user({
        tenantId: tenant,
        id: 'ann',
        claims: { auth_time: Math.floor(Date.now() / 1_000) - 86_400 },
      }),
    });
    expect(told(await old.post(CHANNELS, slack()))).toBe('401 step_up_required');
  });

  it('are made once for one Idempotency-Key', async () => {
    const { admin } = await fixture.people('once');
    const headers = { 'Idempotency-Key': randomUUID() };
    const first = await admin.post(CHANNELS, slack(), { headers });
    const again = await admin.post(CHANNELS, slack(), { headers });
    expect([again.status, again.body]).toEqual([201, first.body]);
    const other = await admin.post(CHANNELS, slack({ name: 'Another' }), { headers });
    expect(told(other)).toBe('422 idempotency_key_reused');
    await admin.delete(`${CHANNELS}/${first.body.id}`);
    expect(told(await admin.post(CHANNELS, slack(), { headers }))).toBe('409 already_created');
    expect((await admin.get(CHANNELS)).body.channels).toEqual([]);
  });

  it('go with the user whom they tell, and come out of a rebuild as they are', async () => {
    const { ann, admin, id: tenant } = await fixture.people('leaving');
    await ann.post(CHANNELS, slack());
    await admin.post(CHANNELS, slack({ recipient: { user_id: 'ann' } }));
    const kept = await admin.post(CHANNELS, slack());
    await fixture.publish(userEvent(tenant, 'ann', 'user.deleted', { deleted_at: '2026-01-02' }));
    const ids = async () => {
      const { rows } = await fixture.shared.database.system.query<{ id: string }>(
        'SELECT id FROM approval.channels WHERE tenant_id = $1',
        [tenant],
      );
      return rows.map(({ id }) => id);
    };
    await untilTrue(async () => (await ids()).length === 1);
    expect(await ids()).toEqual([kept.body.id]);

    const rows = async () =>
      (
        await fixture.shared.database.system.query(
          'SELECT * FROM approval.channels ORDER BY tenant_id, id',
        )
      ).rows;
    const before = await rows();
    const { store, sealer, log } = fixture.host.needsOf('approval');
    const at = { connectionString: database.url, schema: 'approval' };
    const live = { ...at, store, open: sealer.open, log };
    await rebuildProjection({ ...live, projection: channelsTable });
    expect(await rows()).toEqual(before);
  });
});
