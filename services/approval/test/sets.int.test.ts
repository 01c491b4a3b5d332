/** Requests to a set: everyone who holds a role or relation may decide. The holders are looked up for each decision. */
import type { Mail } from '@cardea/mail';
import { armFailPoints, parseFailPoints } from '@cardea/runtime';
import { type RestDriver, testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ApprovalFixture, approvalFixture, userCreated, wanted } from './approval-fixture.ts';
import { person, SET, setWorld } from './set-world.ts';

const database = testDatabase();
const REQUESTS = '/api/v1/ciba/requests';
const world = setWorld();
const mails: Mail[] = [];
let fixture: ApprovalFixture;
/** Another process on the same database and log. */
let other: ApprovalFixture;
beforeAll(async () => {
  const env = { JWT_SECRET: 'j'.repeat(40), ENCRYPTION_KEY: 'e0'.repeat(32) };
  const mail = { send: async (one: Mail) => void mails.push(one), close: () => {} };
  fixture = await approvalFixture(database.url, { peers: world.peers, env, mail });
  other = await approvalFixture(database.url, { peers: world.peers, env, mail });
});
afterAll(async () => {
  await fixture?.stop();
  await other?.stop();
});
beforeEach(() => {
  world.members.clear();
  world.people.clear();
  for (const [id, one] of [person('ann'), person('bob'), person('cid')]) world.people.set(id, one);
  world.members.add('ann').add('bob').add('cid');
  world.isPublic = false;
  world.isSilent = false;
});

const RELATION = { relation: 'approver', object_type: 'team', object_id: 'payments' };
const asked = (more: object = {}) => wanted({ user_id: SET, ...more });
type Form = {
  readonly status: number;
  readonly code?: string | undefined;
  readonly body: unknown;
};
const told = ({ status, code }: Form) => `${status} ${code ?? ''}`.trim();
const as = (of: ApprovalFixture, tenant: string, id: string): RestDriver =>
  of.rest.as({ tenant, bearer: of.tokens.user({ tenantId: tenant, id }) });

async function tenantOf(name: string) {
  const people = await fixture.people(name);
  const ask = async (more: object = {}): Promise<string> => {
    const made = await people.admin.post(REQUESTS, asked(more));
    expect(told(made)).toBe('201');
    return made.body.id;
  };
  return { ...people, ask, cid: as(fixture, name, 'cid') };
}
const approve = (by: RestDriver, id: string) => by.post(`${REQUESTS}/${id}/approve`);
const deny = (by: RestDriver, id: string) => by.post(`${REQUESTS}/${id}/deny`);
/**
 * Refusals of known callers are recorded for the audit log, and mail about earlier requests may still be sent. No other
 * event is written.
 */
const BESIDES: readonly string[] = ['ActionDenied', 'NotificationSent', 'NotificationFailed'];
const written = async (tenant: string) =>
  (await fixture.eventsOf(tenant)).filter(({ type }) => !BESIDES.includes(type)).length;

describe('a request to a set', () => {
  it('approval 25 has the set in place of the user, and is decided by anybody in it', async () => {
    const { ask, bob, admin, id: tenant } = await tenantOf('shape');
    const id = await ask({ reason: 'to pay' });
    const shown = (await bob.get(`${REQUESTS}/${id}`)).body;
    expect(shown).toMatchObject({
      user_id: SET,
      user_email: '',
      user_vouched: true,
      approver: { relation: 'approver', object_type: 'team', object_id: 'payments' },
      approvals: { given: 0, needed: 1 },
      responders: [],
      reason: 'to pay',
    });
    const [waiting] = (await bob.get('/api/v1/ciba/pending')).body.requests;
    const { ip, allowed_decisions: allowed, ...inLists } = shown;
    expect([ip, allowed]).toEqual([expect.any(String), ['approve', 'deny']]);
    expect(waiting).toEqual(inLists);
    expect(told(await approve(bob, id))).toBe('200');
    const end = (await admin.get(`${REQUESTS}/${id}`)).body;
    expect(end).toMatchObject({ status: 'approved', responded_by: 'bob', responders: ['bob'] });
    const [listed] = (await admin.get(REQUESTS)).body.requests;
    expect(end).toEqual({ ...listed, ip, allowed_decisions: [] });
    const types = (await fixture.eventsOf(tenant)).map(({ type }) => type);
    expect(types).toContain('ApprovalApproved');
  });

  it('approval 25 is decided by who joined after it was asked, and 404 for who has left', async () => {
    const { ask, id: tenant } = await tenantOf('moving');
    const id = await ask();
    world.people.set(...person('dan'));
    for (const each of [fixture, other]) {
      const dan = as(each, tenant, 'dan');
      world.members.delete('dan');
      expect(told(await dan.get(`${REQUESTS}/${id}`))).toBe('404 request_not_found');
      expect(told(await dan.get(`${REQUESTS}/${id}/poll`))).toBe('404 request_not_found');
      expect(told(await approve(dan, id))).toBe('404 request_not_found');
      expect(told(await deny(dan, id))).toBe('404 request_not_found');
      expect((await dan.get('/api/v1/ciba/pending')).body.requests).toEqual([]);
      world.members.add('dan');
      expect(told(await dan.get(`${REQUESTS}/${id}`))).toBe('200');
      expect((await dan.get('/api/v1/ciba/pending')).body.requests).toHaveLength(1);
    }
    expect(told(await approve(as(other, tenant, 'dan'), id))).toBe('200');
  });

  it('approval 25 counts vouched and active persons alone', async () => {
    const { ask, bob, cid } = await tenantOf('strangers');
    const id = await ask();
    world.people.set(...person('bob', { vouched: false }));
    world.people.set(...person('cid', { status: 'disabled' }));
    expect(told(await approve(bob, id))).toBe('403 approver_not_vouched');
    expect(told(await deny(bob, id))).toBe('403 approver_not_vouched');
    expect(told(await approve(cid, id))).toBe('404 request_not_found');
    expect((await bob.get('/api/v1/ciba/pending')).body.requests).toEqual([]);
  });

  it('approval 25 is refused where nobody could decide it, and nothing is written', async () => {
    const { admin, id: tenant } = await tenantOf('nobody');
    const before = await written(tenant);
    const refusal = async (more: object = {}) => {
      const answer = await admin.post(REQUESTS, asked(more));
      return `${told(answer)} ${answer.body.error.details?.reason}`;
    };
    world.isPublic = true;
    expect(await refusal()).toBe('403 no_approver too_many');
    world.isPublic = false;
    expect(await refusal({ approvals_needed: 4 })).toBe('403 no_approver nobody_holds');
    expect(await refusal({ user_id: 'role:owner' })).toBe('403 no_approver nobody_holds');
    for (let at = 0; at < 100; at++) {
      world.members.add(`u${at}`);
      world.people.set(...person(`u${at}`));
    }
    expect(await refusal()).toBe('403 no_approver too_many');
    world.members.clear();
    expect(await refusal()).toBe('403 no_approver nobody_holds');
    world.members.add('bob');
    world.people.set(...person('bob', { vouched: false }));
    expect(await refusal()).toBe('403 no_approver nobody_holds');
    expect(await written(tenant)).toBe(before);
  });

  it('approval 25 is 503 while authz or identity is silent, and nothing is written', async () => {
    const { ask, admin, bob, id: tenant } = await tenantOf('silent');
    const id = await ask();
    const before = await written(tenant);
    world.isSilent = true;
    const answers = await Promise.all([
      admin.post(REQUESTS, asked()),
      bob.get('/api/v1/ciba/pending'),
      bob.get(`${REQUESTS}/${id}`),
      approve(bob, id),
      deny(bob, id),
    ]);
    expect(answers.map(told)).toEqual(answers.map(() => '503 temporarily_unavailable'));
    expect(await written(tenant)).toBe(before);
  }, 30_000);

  it('is for administrators to ask, by a role too', async () => {
    const { bob, bot, ask, admin } = await tenantOf('askers');
    expect(told(await bob.post(REQUESTS, asked()))).toBe('403 user_not_allowed');
    expect(told(await bot.post(REQUESTS, asked()))).toBe('403 user_not_allowed');
    const odd = await admin.post(REQUESTS, wanted({ approvals_needed: 2 }));
    expect(told(odd)).toBe('400 invalid_request');
    world.people.set(...person('bob', { roles: ['member', 'admin'] }));
    const id = await ask({ user_id: 'role:admin' });
    expect(told(await approve(bob, id))).toBe('200');
  });

  it('is told to each of those who may decide by a mail of their own', async () => {
    const { ask, id: tenant } = await tenantOf('mails');
    for (const name of ['cid', 'dan']) await fixture.publish(userCreated(tenant, name));
    world.people.set(...person('dan', { vouched: false }));
    world.members.add('dan');
    mails.length = 0;
    await ask();
    await untilTrue(async () => mails.length >= 3, { what: 'three mails' });
    expect(mails.map(({ to }) => to).toSorted()).toEqual(
      ['ann', 'bob', 'cid'].map((name) => `${name}@example.com`),
    );
  });

  it('approval 25 loses its texts with the person for whom the agent acted, and no other does', async () => {
    const { id: tenant, admin } = await tenantOf('erased');
    await fixture.publish(userCreated(tenant, 'eve'));
    const openFor = async (session_user_id: string, digest: string) => {
      const opened = await fixture.open(tenant, {
        ...{ user_id: SET, approver: RELATION, needed: 1, digest },
        ...{ session_user_id, purpose: `the plan of ${session_user_id}` },
      });
      expect(opened['outcome']).toBe('opened');
      return String(opened['id']);
    };
    const [ofEve, ofAnn] = [await openFor('eve', 'd1'), await openFor('ann', 'd2')];
    const reasonOf = async (id: string): Promise<string | undefined> =>
      (await admin.get(`${REQUESTS}/${id}`)).body.reason;
    expect(await reasonOf(ofEve)).toContain('the plan of eve');
    await fixture.publish({
      ...{ source: 'identity', type: 'user.deleted', tenantId: tenant, streamId: 'user-eve' },
      data: { id: 'eve', deleted_at: '2026-01-01T00:00:00.000Z' },
    });
    await untilTrue(async () => (await reasonOf(ofEve)) === undefined);
    expect(await reasonOf(ofAnn)).toContain('the plan of ann');
    // The stored text was never readable, and its key is erased.
    const { rows } = await fixture.host.needsOf('approval').database.system.query<{
      readonly subject_id: string;
      readonly is_erased: boolean;
    }>(
      `SELECT subject_id, wrapped IS NULL AS is_erased FROM approval.subject_keys
       WHERE subject_id = ANY($1)`,
      [[ofEve, ofAnn].map((id) => `request:${tenant}:${id}`)],
    );
    const erased = Object.fromEntries(
      rows.map(({ subject_id, is_erased }) => [subject_id.split(':').at(-1), is_erased]),
    );
    expect(erased).toEqual({ [ofEve]: true, [ofAnn]: false });
    const events = JSON.stringify(await fixture.eventsOf(tenant), (_, value) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    expect(events).not.toContain('the plan of');
  });

  it('costs a request to a person no call, and a list without sets none', async () => {
    const { bot, ann } = await tenantOf('plain');
    const before = world.calls;
    const made = await bot.post(REQUESTS, wanted());
    expect((await ann.get('/api/v1/ciba/pending')).body.requests).toHaveLength(1);
    await ann.get(`${REQUESTS}/${made.body.id}`);
    expect(told(await approve(ann, made.body.id))).toBe('200');
    expect(made.body).not.toHaveProperty('approver');
    expect(world.calls).toBe(before);
  });
});

describe('several who have to approve', () => {
  it('approval 26 are different persons, and the last one decides', async () => {
    const { ask, bob, cid, admin } = await tenantOf('two');
    const id = await ask({ approvals_needed: 2 });
    const first = await approve(bob, id);
    expect([first.status, first.body]).toEqual([
      202,
      { status: 'pending', approvals: { given: 1, needed: 2 } },
    ]);
    expect(told(await approve(bob, id))).toBe('409 already_given');
    expect((await admin.get(`${REQUESTS}/${id}`)).body).toMatchObject({
      status: 'pending',
      approvals: { given: 1, needed: 2 },
      responders: ['bob'],
    });
    expect(told(await approve(cid, id))).toBe('200');
    const [listed] = (await admin.get(REQUESTS)).body.requests;
    expect(listed).toMatchObject({ responders: ['bob', 'cid'], responded_by: 'cid' });
  });

  it('approval 26 each have it among their decisions, also who did not decide it', async () => {
    const { ask, ann, bob, cid } = await tenantOf('decisions-of-two');
    const id = await ask({ approvals_needed: 2 });
    const own = async (by: RestDriver) =>
      (await by.get('/api/v1/me/decisions')).body.requests.map((one: { id: string }) => one.id);
    expect((await approve(bob, id)).status).toBe(202);
    expect(await own(bob)).toEqual([id]);
    expect(await own(cid)).toEqual([]);
    expect(told(await approve(cid, id))).toBe('200');
    for (const by of [bob, cid]) expect(await own(by)).toEqual([id]);
    expect(await own(ann)).toEqual([]);
    // Who has lost the right has given it nevertheless.
    const left = await ask({ approvals_needed: 2 });
    expect((await approve(bob, left)).status).toBe(202);
    world.members.delete('bob');
    expect(told(await deny(cid, left))).toBe('200');
    expect(await own(bob)).toEqual([left, id]);
  });

  it('approval 26 two at once never make three approvals', async () => {
    const { ask, ann, bob, cid, id: tenant } = await tenantOf('at-once');
    for (let round = 0; round < 10; round++) {
      const id = await ask({ approvals_needed: 2 });
      const answers = await Promise.all([ann, bob, cid].map((by) => approve(by, id)));
      expect(answers.map(told).toSorted()).toEqual(['200', '202', '409 request_not_pending']);
      const yes = (await fixture.eventsOf(tenant)).filter(
        ({ streamId, type }) =>
          streamId === `request-${id}` && ['ApprovalGiven', 'ApprovalApproved'].includes(type),
      );
      expect(yes.map(({ type }) => type)).toEqual(['ApprovalGiven', 'ApprovalApproved']);
    }
  });

  it('approval 26 count no more once they have left, and one no ends it', async () => {
    const { ask, ann, bob, cid } = await tenantOf('leaving');
    const id = await ask({ approvals_needed: 2 });
    expect((await approve(bob, id)).status).toBe(202);
    world.members.delete('bob');
    const still = await approve(cid, id);
    expect([still.status, still.body]).toEqual([
      202,
      { status: 'pending', approvals: { given: 1, needed: 2 } },
    ]);
    expect(told(await deny(ann, id))).toBe('200');
    expect(told(await approve(ann, id))).toBe('409 request_not_pending');
  });

  it('approval 26 are none where the process ends before the last one is written', async () => {
    const { ask, bob, cid, admin, id: tenant } = await tenantOf('broken-off');
    const id = await ask({ approvals_needed: 2 });
    expect((await approve(bob, id)).status).toBe(202);
    const before = await written(tenant);
    armFailPoints(parseFailPoints('given.before_final=throw') ?? []);
    const broken = await approve(cid, id).finally(() => armFailPoints([]));
    expect(broken.status).toBe(500);
    expect(await written(tenant)).toBe(before);
    expect((await admin.get(`${REQUESTS}/${id}`)).body.status).toBe('pending');
    // Bob leaves the team before Cid decides, so only Cid's approval counts.
    world.members.delete('bob');
    expect((await approve(cid, id)).body).toMatchObject({ approvals: { given: 1, needed: 2 } });
  });
});
