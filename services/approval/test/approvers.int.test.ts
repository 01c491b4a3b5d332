/** Users are added and deleted, notified by mail, and waited for. */
import { isDeepStrictEqual } from 'node:util';
import type { Mail } from '@cardea/mail';
import { rebuildProjection } from '@cardea/read-models';
import { testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requestsTable } from '../src/requests/approval-requests/requests.projection.ts';
import {
  type ApprovalFixture,
  approvalFixture,
  noticesCounted,
  userCreated,
  userEvent,
  wanted,
} from './approval-fixture.ts';

const database = testDatabase();
let fixture: ApprovalFixture;
const mails: Mail[] = [];
let mailIsDown = false;
beforeAll(async () => {
  fixture = await approvalFixture(database.url, {
    mail: {
      send: async (mail) => {
        if (mailIsDown) throw new Error('refused');
        mails.push(mail);
      },
      close: () => {},
    },
  });
});
afterAll(async () => {
  await fixture?.stop();
});

const REQUESTS = '/api/v1/ciba/requests';
const isNotified =
  (id: string) =>
  ({ type, streamId }: { readonly type: string; readonly streamId: string }): boolean =>
    type === 'NotificationSent' && streamId === `request-${id}`;
const statusOf = async (tenant: { admin: ApprovalFixture['rest'] }, id: string) =>
  (await tenant.admin.get(`${REQUESTS}/${id}`)).body.status;

describe('a person who is asked', () => {
  it('approval 11 may have signed up just now', async () => {
    const { admin, id: tenant } = await fixture.people('eleven');
    for (let count = 0; count < 20; count++) {
      await fixture.publish(userCreated(tenant, `new${count}`));
      const answer = await admin.post(REQUESTS, wanted({ user_id: `new${count}` }));
      expect(answer.status).toBe(201);
    }
    const unknown = await admin.post(REQUESTS, wanted({ user_id: 'nobody' }));
    expect(`${unknown.status} ${unknown.code}`).toBe('404 user_not_found');
  });

  it('is asked by agents of their own and by admins, and by nobody else', async () => {
    const { ann, bob, bot } = await fixture.people('callers');
    const codes = [
      await bob.post(REQUESTS, wanted()),
      await bot.post(REQUESTS, wanted({ agent_id: 'other' })),
      await bot.post(REQUESTS, wanted({ user_id: 'bob' })),
      await ann.post(REQUESTS, wanted({ severity: 'extreme' })),
      await ann.post(REQUESTS, wanted({ action: '\u200B' })),
    ].map(({ code }) => code);
    expect(codes).toEqual([
      'user_not_allowed',
      'agent_mismatch',
      'user_not_allowed',
      'invalid_request',
      'invalid_request',
    ]);
  });

  it('is asked once by a repeated call with one Idempotency-Key', async () => {
    const { bot, id: tenant } = await fixture.people('repeats');
    const headers = { 'idempotency-key': 'k1' };
    const all = await Promise.all(
      Array.from({ length: 5 }, () => bot.post(REQUESTS, wanted(), { headers })),
    );
    expect(new Set(all.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1);
    const made = (await fixture.eventsOf(tenant)).filter(
      ({ type }) => type === 'ApprovalRequested',
    );
    expect(made).toHaveLength(1);
    const other = await bot.post(REQUESTS, wanted({ action: 'else' }), { headers });
    expect(`${other.status} ${other.code}`).toBe('422 idempotency_key_reused');
  });

  it('is asked anew under one Idempotency-Key after a day', async () => {
    const { id: tenant } = await fixture.people('daily');
    const headers = { 'idempotency-key': 'daily' };
    const ask = (action: string) => {
      const bearer = fixture.tokens.agent({
        tenantId: tenant,
        id: 'bot',
        sessionId: 's1',
        userId: 'ann',
      });
      return fixture.rest.as({ tenant, bearer }).post(REQUESTS, wanted({ action }), { headers });
    };
    const first = await ask('one');
    fixture.clock.move(24 * 3_600_000);
    const [second, again] = [await ask('two'), await ask('two')];
    expect([first.status, second.status, again.status]).toEqual([201, 201, 201]);
    expect(second.body.id).not.toBe(first.body.id);
    expect(again.body.id).toBe(second.body.id);
  });

  it('approval 21 is asked at once while the mail server is away, and gets the mail later', async () => {
    const { bot } = await fixture.people('twenty-one');
    const counted = () =>
      Promise.all(['failed', 'sent'].map((outcome) => noticesCounted('approval_request', outcome)));
    const [failedBefore = 0, sentBefore = 0] = await counted();
    mailIsDown = true;
    const made = await bot.post(REQUESTS, wanted({ reason: 'mail <b>me</b>' }));
    expect(made.status).toBe(201);
    const { database: sql } = fixture.host.needsOf('approval');
    const { id } = made.body;
    await untilTrue(async () => {
      const { rows } = await sql.system.query<{ attempts: number }>(
        'SELECT attempts FROM approval.notification_jobs WHERE request_id = $1',
        [id],
      );
      return (rows[0]?.attempts ?? 0) >= 1;
    });
    expect(await counted()).toEqual([failedBefore + 1, sentBefore]);
    mailIsDown = false;
    fixture.clock.move(5_000);
    const mail = await untilTrue(() => mails.find(({ text }) => text.includes('mail <b>me</b>')));
    expect(mail).toMatchObject({
      to: 'ann@example.com',
      subject: 'Approval requested by Deploy Bot',
    });
    expect(mail.text).toContain('first request of this agent');
    expect(mail.html).not.toContain('<b>');
    await untilTrue(async () => (await counted())[1] === sentBefore + 1);
    expect(await counted()).toEqual([failedBefore + 1, sentBefore + 1]);
  });

  it('approval 21 gets no second mail when the table of requests is built anew', async () => {
    const { ann, id: tenant } = await fixture.people('rebuilt');
    const { body } = await ann.post(REQUESTS, wanted());
    const opened = await fixture.open(tenant, { digest: 'd' });
    await ann.post(`${REQUESTS}/${opened['id']}/approve`);
    const { database: sql, store, sealer, log } = fixture.host.needsOf('approval');
    const jobs = async () =>
      (await sql.system.query('SELECT 1 FROM approval.notification_jobs')).rows.length;
    const rows = async () =>
      (await sql.system.query('SELECT * FROM approval.requests r ORDER BY tenant_id, id')).rows;
    await untilTrue(async () => (await fixture.eventsOf(tenant)).some(isNotified(body.id)));
    await untilTrue(async () => (await jobs()) === 0);
    const at = { connectionString: database.url, schema: 'approval' };
    const live = { ...at, store, open: sealer.open, log };
    const sent = mails.length;
    // Requests of other tests may expire at the same time.
    await untilTrue(async () => {
      const before = await rows();
      await rebuildProjection({ ...live, projection: requestsTable(() => {}) });
      return isDeepStrictEqual(await rows(), before);
    });
    expect(await jobs()).toBe(0);
    expect(mails.length).toBe(sent);
  });

  it('gets five mails a minute, and one for all the rest', async () => {
    const { ann, id: tenant } = await fixture.people('folded');
    const before = mails.length;
    for (let count = 0; count < 8; count++) await ann.post(REQUESTS, wanted());
    const { database: sql } = fixture.host.needsOf('approval');
    await untilTrue(async () => {
      const { rows } = await sql.system.query(
        `SELECT 1 FROM approval.notification_jobs WHERE tenant_id = $1 AND state = 'folded'`,
        [tenant],
      );
      return rows.length === 3 && mails.length - before >= 5;
    });
    expect(mails.length - before).toBe(5);
    fixture.clock.move(60_000);
    await untilTrue(() => mails.length - before === 6);
    expect(mails.at(-1)?.subject).toBe('3 more requests wait');
  });

  it('approval 17 is shown the code nowhere, where it is to be matched', async () => {
    const { ann, id: tenant } = await fixture.people('seventeen');
    const opened = await fixture.open(tenant, {
      digest: 'd',
      number_match: true,
      purpose: 'match',
    });
    const code = /code (\d{4})$/.exec(String(opened['binding_message']))?.[1] ?? '';
    const path = `${REQUESTS}/${opened['id']}`;
    const mail = await untilTrue(() => mails.find(({ text }) => text.includes('match')));
    expect(mail.text).not.toContain('Reference code');
    const { body } = await ann.get(path);
    expect(body.binding.number_match).toBe(true);
    expect(Object.keys(body.binding)).not.toContain('code');
    const say = (binding_code: string) => ann.post(`${path}/approve`, { binding_code });
    const wrong = code === '0000' ? '0001' : '0000';
    expect((await ann.post(`${path}/approve`)).code).toBe('binding_code_required');
    expect((await say(wrong)).code).toBe('binding_code_mismatch');
    expect((await say(code)).body).toEqual({ status: 'approved' });

    const other = await fixture.open(tenant, { digest: 'e', number_match: true });
    const wrongs = ['a', 'b', 'c', 'd'].map((text) => text.repeat(4));
    const codes: (string | undefined)[] = [];
    for (const text of wrongs) {
      const answer = await ann.post(`${REQUESTS}/${other['id']}/approve`, { binding_code: text });
      codes.push(answer.code);
    }
    expect(codes).toEqual([...Array(3).fill('binding_code_mismatch'), 'request_not_pending']);
    expect((await ann.get(`${REQUESTS}/${other['id']}`)).body.status).toBe('denied');
  });

  it('approval 22 leaves neither address nor reason behind, and no request open', async () => {
    const tenant = await fixture.people('twenty-two');
    const { body } = await tenant.bot.post(REQUESTS, wanted({ reason: 'very private' }));
    await fixture.publish({
      source: 'identity',
      type: 'user.deleted',
      tenantId: tenant.id,
      streamId: 'user-ann',
      data: { id: 'ann', deleted_at: '2026-01-01T00:00:00.000Z' },
    });
    await untilTrue(async () => (await statusOf(tenant, body.id)) === 'expired');
    const seen = await untilTrue(async () => {
      const { body: shown } = await tenant.admin.get(`${REQUESTS}/${body.id}`);
      return shown.user_email === '' && shown.reason === undefined ? shown : undefined;
    });
    expect(seen.status).toBe('expired');
    const { database: sql } = fixture.host.needsOf('approval');
    const { rows } = await sql.system.query<{ dump: string }>(
      `SELECT (SELECT json_agg(r) FROM approval.requests r WHERE tenant_id = $1)::text ||
              coalesce((SELECT json_agg(u) FROM approval.users u
                        WHERE tenant_id = $1 AND user_id = 'ann')::text, '') AS dump`,
      [tenant.id],
    );
    const events = JSON.stringify(await fixture.eventsOf(tenant.id), (_, value) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    for (const word of ['very private', 'ann@example.com']) {
      expect(rows[0]?.dump).not.toContain(word);
      expect(events).not.toContain(word);
    }
  });

  it('is asked nothing more by an agent, a session or an account that has ended', async () => {
    const tenant = await fixture.people('ended');
    const made = await tenant.bot.post(REQUESTS, wanted());
    const vend = await fixture.open(tenant.id, { digest: 'd' });
    const session = {
      id: 's1',
      agent_id: 'bot',
      user_id: 'ann',
      services: [],
      epoch: 1,
      expires_at: '2026-01-01T00:00:00.000Z',
      reason: 'ended',
      ended_at: '2026-01-01T00:00:00.000Z',
    };
    const ended = { source: 'identity' as const, tenantId: tenant.id };
    await fixture.publish({
      ...ended,
      type: 'agent_session.ended',
      streamId: 'agent_session-s1',
      data: session,
    });
    await untilTrue(async () => (await statusOf(tenant, String(vend['id']))) === 'expired');
    expect(await statusOf(tenant, made.body.id)).toBe('pending');
    await fixture.publish(
      userEvent(tenant.id, 'ann', 'user.status_changed', {
        status: 'disabled',
        changed: ['status'],
      }),
    );
    await untilTrue(async () => (await statusOf(tenant, made.body.id)) === 'expired');
    await untilTrue(
      async () => (await fixture.open(tenant.id, { digest: 'e' })).outcome === 'user_inactive',
    );
    await untilTrue(
      async () => (await tenant.bot.post(REQUESTS, wanted())).code === 'user_disabled',
    );
    expect((await tenant.ann.get('/api/v1/ciba/pending')).code).toBe('unauthenticated');
  });

  it('asks nobody whose account still waits for its owner', async () => {
    const tenant = await fixture.people('invited');
    const told = (status: string) =>
      fixture.publish(
        userEvent(tenant.id, 'ann', 'user.status_changed', { status, changed: ['status'] }),
      );
    const ask = async () => (await tenant.bot.post(REQUESTS, wanted())).code;
    await told('invited');
    await untilTrue(async () => (await ask()) === 'user_disabled');
    await told('active');
    await untilTrue(async () => (await ask()) === undefined);
  });

  it('approval 3 is swept: the log says that an overdue request has expired', async () => {
    const { ann, id: tenant } = await fixture.people('swept');
    await ann.post(REQUESTS, wanted({ ttl_seconds: 1 }));
    fixture.clock.move(1_000);
    await untilTrue(async () =>
      (await fixture.eventsOf(tenant)).some(({ type }) => type === 'ApprovalExpired'),
    );
  });
});
