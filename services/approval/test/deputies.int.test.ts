/** Deputies: who is asked in the place of a person, when, and where nobody is. */
import type { Mail } from '@cardea/mail';
import { rebuildProjection } from '@cardea/read-models';
import { type RestDriver, testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { deputiesTable } from '../src/deputies/deputies.projection.ts';
import {
  type ApprovalFixture,
  approvalFixture,
  stoppedClock,
  type Tenant,
  userCreated,
  userEvent,
  type Vend,
  wanted,
} from './approval-fixture.ts';
import { person, SET, setWorld } from './set-world.ts';

const REQUESTS = '/api/v1/ciba/requests';
const DEPUTY = '/api/v1/ciba/deputy';
const DEPUTIES = '/api/v1/ciba/deputies';
const DAY_MS = 86_400_000;
const DISABLED = { status: 'disabled', changed: ['status'] };

const database = testDatabase();
const world = setWorld();
const clock = stoppedClock();
const mails: Mail[] = [];
let fixture: ApprovalFixture;
beforeAll(async () => {
  const env = { JWT_SECRET: 'j'.repeat(40), ENCRYPTION_KEY: 'e0'.repeat(32) };
  const mail = { send: async (one: Mail) => void mails.push(one), close: () => {} };
  fixture = await approvalFixture(database.url, { peers: world.peers, env, clock, mail });
});
afterAll(async () => {
  await fixture?.stop();
});
beforeEach(() => {
  world.members.clear();
  world.people.clear();
});

type Form = { readonly status: number; readonly code?: string | undefined };
const told = ({ status, code }: Form) => `${status} ${code ?? ''}`.trim();
/** Each names its tenant in its link. */
const mailsOf = (tenant: string): readonly Mail[] =>
  mails.filter(({ text }) => text.includes(`in=${tenant}`));
const subjectsOf = (tenant: string, from = 0): readonly string[] =>
  mailsOf(tenant)
    .slice(from)
    .map(({ to, subject }) => `${to}: ${subject}`)
    .toSorted();
const inDays = (days: number) => new Date(clock.now().getTime() + days * DAY_MS).toISOString();
const approve = (by: RestDriver, id: string) => by.post(`${REQUESTS}/${id}/approve`);
const deny = (by: RestDriver, id: string, body: object = {}) =>
  by.post(`${REQUESTS}/${id}/deny`, body);
/** Somebody who has just signed in, by the clock of the service. */
const as = (tenant: string, id: string, roles: readonly string[] = ['member']): RestDriver =>
  fixture.rest.as({ tenant, bearer: fixture.tokens.user({ tenantId: tenant, id, roles }) });

async function tenantOf(name: string) {
  const tenant = await fixture.people(name);
  await fixture.publish(userCreated(name, 'cid'));
  await heard(name, `user_id = 'cid'`);
  return { ...tenant, cid: as(name, 'cid') };
}
const heard = (tenant: string, where: string) =>
  untilTrue(async () => {
    const { rowCount } = await fixture.host
      .needsOf('approval')
      .database.system.query(`SELECT 1 FROM approval.users WHERE tenant_id = $1 AND ${where}`, [
        tenant,
      ]);
    return rowCount > 0;
  });

const name = (tenant: string, userId: string, body: object) => as(tenant, userId).put(DEPUTY, body);
async function named(tenant: string, userId: string, deputy: string, more: object = {}) {
  const set = await name(tenant, userId, { user_id: deputy, until: inDays(10), ...more });
  expect(told(set), set.text).toBe('200');
  return set.body.deputy;
}

let opened = 0;
async function vend(tenant: string, more: Partial<Vend> = {}) {
  opened += 1;
  const digest = more.digest ?? `d${opened}`;
  const open = await fixture.open(tenant, { digest, ...more });
  const id = String(open['id']);
  const use = () =>
    fixture.consume(id, { tenant_id: tenant, agent_id: 'bot', digest, grant_id: `g-${id}` });
  return { id, use, outcome: open.outcome };
}
const addressee = async ({ id: tenant }: Pick<Tenant, 'id'>, id: string) => {
  const admin = as(tenant, 'adm', ['admin']);
  const { user_id, deputy_for = null } = (await admin.get(`${REQUESTS}/${id}`)).body;
  return [user_id, deputy_for];
};

describe('approval 28 a deputy', () => {
  it('decides what is asked from the moment it begins until it ends; what waited before stays', async () => {
    const tenant = await tenantOf('period');
    const { id: of, ann, bob } = tenant;
    const before = await vend(of);
    const from = inDays(1);
    expect(await named(of, 'ann', 'bob', { from, until: inDays(3) })).toEqual({
      user_id: 'bob',
      name: 'bob',
      from,
      until: inDays(3),
    });
    expect(await addressee(tenant, (await vend(of)).id)).toEqual(['ann', null]);
    expect(told(await approve(bob, before.id))).toBe('404 request_not_found');
    expect(told(await approve(ann, before.id))).toBe('200');

    clock.move(DAY_MS - 1);
    expect(await addressee(tenant, (await vend(of)).id)).toEqual(['ann', null]);
    clock.move(1);
    const bearer = fixture.tokens.agent({
      tenantId: of,
      id: 'bot',
      sessionId: 's1',
      userId: 'ann',
    });
    const asked = (
      await fixture.rest.as({ tenant: of, bearer }).post(REQUESTS, wanted({ reason: 'to write' }))
    ).body;
    expect(asked).toMatchObject({
      user_id: 'bob',
      user_email: 'bob@example.com',
      deputy_for: 'ann',
      reason: 'to write',
    });
    const released = await vend(of);
    expect((await as(of, 'bob').get('/api/v1/ciba/pending')).body.requests).toHaveLength(2);
    expect(told(await approve(as(of, 'ann'), released.id))).toBe('404 request_not_found');
    expect(told(await approve(as(of, 'bob'), released.id))).toBe('200');
    expect(await released.use()).toMatchObject({ outcome: 'consumed' });

    clock.move(2 * DAY_MS - 1);
    const last = await vend(of);
    clock.move(1);
    expect(await addressee(tenant, (await vend(of)).id)).toEqual(['ann', null]);
    // What was made out to the deputy stays theirs.
    expect(told(await approve(as(of, 'bob'), last.id))).toBe('200');
    expect((await as(of, 'ann').get(DEPUTY)).body).toEqual({ deputy: null });
  });

  it('is somebody else, active and vouched for, for ninety days at most', async () => {
    const { id: of } = await tenantOf('fit');
    const set = async (body: object) => {
      const answer = await name(of, 'ann', { user_id: 'bob', until: inDays(10), ...body });
      return `${told(answer)} ${answer.body.error?.details?.[0]?.rule ?? ''}`.trim();
    };
    expect(await set({ user_id: 'ann' })).toBe('422 deputy_not_possible');
    expect(await set({ user_id: 'nobody' })).toBe('422 deputy_not_possible');
    await fixture.vouch(of, 'bob', false);
    expect(await set({})).toBe('422 deputy_not_possible');
    await fixture.vouch(of, 'bob', true);
    expect(await set({ until: inDays(90) })).toBe('200');
    expect(await set({ until: inDays(90.001) })).toBe('400 invalid_request too_long');
    expect(await set({ until: inDays(0) })).toBe('400 invalid_request after_from');
    const late = { from: inDays(365.001), until: inDays(366) };
    expect(await set(late)).toBe('400 invalid_request too_far');
    expect(await set({ until: 'tomorrow' })).toMatch(/^400/);
    await fixture.publish(userEvent(of, 'cid', 'user.status_changed', DISABLED));
    await heard(of, `user_id = 'cid' AND status = 'disabled'`);
    expect(await set({ user_id: 'cid' })).toBe('422 deputy_not_possible');
  });

  it('one hop: the deputy of a deputy, or a circle, decides nothing', async () => {
    const tenant = await tenantOf('chain');
    const { id: of, cid, ann, bob } = tenant;
    await named(of, 'ann', 'bob');
    await named(of, 'bob', 'cid');
    const { id } = await vend(of);
    expect(await addressee(tenant, id)).toEqual(['bob', 'ann']);
    expect(told(await cid.get(`${REQUESTS}/${id}`))).toBe('404 request_not_found');
    expect(told(await approve(cid, id))).toBe('404 request_not_found');
    await named(of, 'bob', 'ann');
    const again = await vend(of);
    expect(await addressee(tenant, again.id)).toEqual(['bob', 'ann']);
    expect(told(await approve(ann, again.id))).toBe('404 request_not_found');
    expect(told(await approve(bob, again.id))).toBe('200');
  });

  it('is asked only while active and vouched for, and decides and is used by the vouch', async () => {
    const tenant = await tenantOf('standing');
    const { id: of, bob } = tenant;
    await named(of, 'ann', 'bob');
    const lenient = await vend(of, { vouch_required: false });
    const used = await vend(of, { vouch_required: false });
    expect(told(await approve(bob, used.id))).toBe('200');
    await fixture.vouch(of, 'bob', false);
    expect(await addressee(tenant, (await vend(of)).id)).toEqual(['ann', null]);
    expect(told(await approve(bob, lenient.id))).toBe('403 approver_not_vouched');
    expect(await used.use()).toEqual({ outcome: 'user_not_vouched' });
    await fixture.vouch(of, 'bob', true);
    expect(told(await approve(bob, lenient.id))).toBe('200');
    await fixture.publish(userEvent(of, 'bob', 'user.status_changed', DISABLED));
    await heard(of, `user_id = 'bob' AND status = 'disabled'`);
    expect(await addressee(tenant, (await vend(of)).id)).toEqual(['ann', null]);
  });

  it('no deputy stands in for a set, the second addressee, an own connection, an excluded person or oneself', async () => {
    const tenant = await tenantOf('nowhere');
    const { id: of, ann, bob, admin } = tenant;
    for (const id of ['ann', 'cid']) {
      world.people.set(...person(id));
      world.members.add(id);
    }
    await named(of, 'ann', 'bob');
    const set = await admin.post(REQUESTS, wanted({ user_id: SET }));
    expect(told(await approve(bob, set.body.id))).toBe('404 request_not_found');
    expect(told(await approve(ann, set.body.id))).toBe('200');
    expect(await addressee(tenant, (await vend(of, { own_connection: true })).id)).toEqual([
      'ann',
      null,
    ]);
    const excludes = { exclude_session_user: true, session_user_id: 'bob' };
    expect(await addressee(tenant, (await vend(of, excludes)).id)).toEqual(['ann', null]);
    const own = await ann.post(REQUESTS, wanted());
    expect(own.body).toMatchObject({ origin: 'self', user_id: 'ann' });
    // Asked first is Bob, for Ann; the escalation is Ann's alone.
    await named(of, 'cid', 'bob');
    const escalate = { after_seconds: 60, approver: { user_id: 'ann' } };
    const escalated = await vend(of, { user_id: 'cid', escalate });
    expect(await addressee(tenant, escalated.id)).toEqual(['bob', 'cid']);
    clock.move(60_000);
    expect(told(await approve(ann, escalated.id))).toBe('200');
    expect(await escalated.use()).toMatchObject({ outcome: 'consumed' });
  });

  it('mutes and denies for the person who was asked, and a vend that comes again joins what waits', async () => {
    const tenant = await tenantOf('muting');
    const { id: of, bob, bot } = tenant;
    const waiting = await vend(of, { digest: 'same' });
    await named(of, 'ann', 'bob');
    expect(await vend(of, { digest: 'same' })).toMatchObject({ outcome: 'joined', id: waiting.id });
    const { id } = (await bot.post(REQUESTS, wanted())).body;
    expect(told(await deny(bob, id, { mute_agent_minutes: 30 }))).toBe('200');
    expect(told(await bot.post(REQUESTS, wanted()))).toBe('403 agent_muted');
    await as(of, 'ann').delete(DEPUTY);
    expect(told(await bot.post(REQUESTS, wanted()))).toBe('403 agent_muted');
  });

  it('is told by mail to both when it is named, replaced and removed', async () => {
    const { id: of } = await tenantOf('mails');
    const count = (all: number) =>
      untilTrue(() => mailsOf(of).length === all, { what: `${all} mails` });
    await named(of, 'ann', 'bob');
    await count(2);
    expect(subjectsOf(of)).toEqual([
      'ann@example.com: You have a deputy for approvals',
      'bob@example.com: You are a deputy for approvals',
    ]);
    const toBob = mailsOf(of).find(({ to }) => to.startsWith('bob'));
    expect(toBob?.text).toContain('ann has named you to decide in their place');
    // The same again changes nothing, and tells nobody.
    const { until } = (await as(of, 'ann').get(DEPUTY)).body.deputy;
    await named(of, 'ann', 'bob', { until });
    await named(of, 'ann', 'cid');
    await count(5);
    expect(subjectsOf(of, 2)).toEqual([
      'ann@example.com: You have a deputy for approvals',
      'bob@example.com: You are no deputy for approvals any more',
      'cid@example.com: You are a deputy for approvals',
    ]);
    expect((await as(of, 'ann').delete(DEPUTY)).body).toEqual({ status: 'deputy removed' });
    await count(7);
    expect(subjectsOf(of, 5)).toEqual([
      'ann@example.com: You have no deputy for approvals any more',
      'cid@example.com: You are no deputy for approvals any more',
    ]);
    expect(told(await as(of, 'ann').delete(DEPUTY))).toBe('404 deputy_not_found');
  });

  it('tells the deputy by mail in whose place they are asked', async () => {
    const { id: of } = await tenantOf('asked-mail');
    await named(of, 'ann', 'bob');
    await vend(of);
    const mail = await untilTrue(() =>
      mailsOf(of).find(({ text }) => text.includes('as the deputy of')),
    );
    expect(mail).toMatchObject({ to: 'bob@example.com' });
    expect(mail.text).toContain('You are asked as the deputy of ann.');
  });
});

describe('approval 28 whoever names, sees and ends a deputy', () => {
  it('is the person, in person and after a recent sign-in', async () => {
    const { id: of, bot } = await tenantOf('in-person');
    const body = { user_id: 'bob', until: inDays(1) };
    expect(told(await bot.put(DEPUTY, body))).toBe('401 user_session_required');
    const at = (more: object) =>
      fixture.rest.as({
        tenant: of,
        bearer: fixture.tokens.user({ tenantId: of, id: 'ann', claims: more }),
      });
    const old = at({ auth_time: Math.floor(clock.now().getTime() / 1_000) - 86_400 });
    expect(told(await old.put(DEPUTY, body))).toBe('401 step_up_required');
    await named(of, 'ann', 'bob');
    expect(told(await old.delete(DEPUTY))).toBe('401 step_up_required');
    expect((await old.get(DEPUTY)).body.deputy).toMatchObject({ user_id: 'bob' });
    expect((await as(of, 'bob').get(DEPUTY)).body).toEqual({ deputy: null });
    expect(told(await as(of, 'ann').get(DEPUTIES))).toBe('403 forbidden');
    expect(told(await as(of, 'ann').delete(`${DEPUTIES}/ann`))).toBe('403 forbidden');
  });

  it('is an administrator for the list and the end alone', async () => {
    const tenant = await tenantOf('administered');
    const { id: of } = tenant;
    const admin = as(of, 'adm', ['admin']);
    const deputy = await named(of, 'ann', 'bob');
    await named(of, 'cid', 'bob', { from: inDays(1), until: inDays(2) });
    const first = { user_id: 'ann', deputy: 'bob', from: deputy.from, until: deputy.until };
    const listed = (await admin.get(DEPUTIES)).body;
    expect(listed).toMatchObject({ total: 2, offset: 0, deputies: [first, { user_id: 'cid' }] });
    expect((await admin.get(DEPUTIES, { query: { limit: '1' } })).body).toMatchObject({
      total: 2,
      deputies: [first],
    });
    expect((await admin.get(DEPUTIES, { query: { offset: '2' } })).body).toEqual({
      total: 2,
      offset: 2,
      deputies: [],
    });
    expect((await admin.delete(`${DEPUTIES}/ann`)).body).toEqual({ status: 'deputy removed' });
    expect(told(await admin.delete(`${DEPUTIES}/ann`))).toBe('404 deputy_not_found');
    expect(await addressee(tenant, (await vend(of)).id)).toEqual(['ann', null]);
    clock.move(3 * DAY_MS);
    expect((await as(of, 'adm', ['admin']).get(DEPUTIES)).body.deputies).toEqual([]);
    const published = await untilTrue(async () => {
      const { rows } = await fixture.shared.database.system.query<{ data: object }>(
        `SELECT value->'data' AS data FROM bus.records
         WHERE topic = 'cardea.approval.events.v1' AND value->>'tenantId' = $1
           AND value->>'type' = 'deputy.changed' AND value->'data'->>'user_id' = 'ann' ORDER BY "offset"`,
        [of],
      );
      return rows.length === 2 ? rows : undefined;
    });
    expect(published.map(({ data }) => data)).toMatchObject([
      first,
      { user_id: 'ann', deputy: null, from: null, until: null },
    ]);
  });

  it('goes with either of the two, requests too, and comes out of a rebuild as it was', async () => {
    const tenant = await tenantOf('leaving');
    const { id: of, admin } = tenant;
    await named(of, 'ann', 'bob');
    await named(of, 'bob', 'cid');
    const { id } = await vend(of);
    const sql = fixture.host.needsOf('approval').database.system;
    const rows = async () =>
      (await sql.query('SELECT * FROM approval.deputies ORDER BY tenant_id, user_id')).rows;
    const before = await rows();
    const { store, sealer, log } = fixture.host.needsOf('approval');
    const live = {
      connectionString: database.url,
      schema: 'approval',
      store,
      open: sealer.open,
      log,
    };
    await untilTrue(() => mailsOf(of).length >= 4, { what: 'the notices have been sent' });
    await rebuildProjection({ ...live, projection: deputiesTable(() => {}) });
    expect(await rows()).toEqual(before);
    const mine = async () =>
      (await sql.query('SELECT 1 FROM approval.deputies WHERE tenant_id = $1', [of])).rows.length;
    expect(await mine()).toBe(2);
    await fixture.publish(userEvent(of, 'ann', 'user.deleted', { deleted_at: '2026-01-02' }));
    await untilTrue(async () => (await admin.get(`${REQUESTS}/${id}`)).body.status === 'expired');
    await untilTrue(async () => (await mine()) === 1);
    await fixture.publish(userEvent(of, 'cid', 'user.deleted', { deleted_at: '2026-01-02' }));
    await untilTrue(async () => (await mine()) === 0);
  });
});
