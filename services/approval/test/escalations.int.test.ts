/** Requests that a second addressee may decide too, once they have waited for some time. */
import type { Mail } from '@cardea/mail';
import { armFailPoints, parseFailPoints } from '@cardea/runtime';
import { type RestDriver, testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type ApprovalFixture,
  approvalFixture,
  stoppedClock,
  userCreated,
  type Vend,
} from './approval-fixture.ts';
import { person, SET, setWorld } from './set-world.ts';

const REQUESTS = '/api/v1/ciba/requests';
const AFTER_S = 60;
const TO_OWNERS = { after_seconds: AFTER_S, approver: { role: 'owner' } };
const TO_BOB = { after_seconds: AFTER_S, approver: { user_id: 'bob' } };
const OF_SET: Partial<Vend> = {
  user_id: SET,
  approver: { relation: 'approver', object_type: 'team', object_id: 'payments' },
};

const swept = testDatabase();
const unswept = testDatabase();
const world = setWorld();
const clock = stoppedClock();
const mails: Mail[] = [];
/** Two replicas that record no escalation, and one elsewhere that does. */
let replica: ApprovalFixture;
let other: ApprovalFixture;
let sweeping: ApprovalFixture;
beforeAll(async () => {
  const env = { JWT_SECRET: 'j'.repeat(40), ENCRYPTION_KEY: 'e0'.repeat(32) };
  const shared = { peers: world.peers, env, clock };
  replica = await approvalFixture(unswept.url, { ...shared, withoutSweeper: true });
  other = await approvalFixture(unswept.url, { ...shared, withoutSweeper: true });
  const mail = { send: async (one: Mail) => void mails.push(one), close: () => {} };
  sweeping = await approvalFixture(swept.url, { ...shared, mail });
});
afterAll(async () => {
  await replica?.stop();
  await other?.stop();
  await sweeping?.stop();
});
beforeEach(() => {
  world.members.clear();
  world.people.clear();
  for (const id of ['ann', 'bob', 'cid']) world.people.set(...person(id));
  world.people.set(...person('dan', { roles: ['member', 'owner'] }));
  world.members.add('bob').add('cid');
});

type Form = { readonly status: number; readonly code?: string | undefined };
const told = ({ status, code }: Form) => `${status} ${code ?? ''}`.trim();
const as = (of: ApprovalFixture, tenant: string, id: string): RestDriver =>
  of.rest.as({ tenant, bearer: of.tokens.user({ tenantId: tenant, id }) });
const approve = (by: RestDriver, id: string) => by.post(`${REQUESTS}/${id}/approve`);
const deny = (by: RestDriver, id: string) => by.post(`${REQUESTS}/${id}/deny`);
const waiting = async (by: RestDriver) =>
  (await by.get('/api/v1/ciba/pending')).body.requests.map(({ id }: { id: string }) => id);
const decisions = async (by: RestDriver) =>
  (await by.get('/api/v1/me/decisions')).body.requests.map(({ id }: { id: string }) => id);

let opened = 0;
async function open(of: ApprovalFixture, tenant: string, vend: Partial<Vend>) {
  opened += 1;
  const digest = `d${opened}`;
  const { id } = (await of.open(tenant, { digest, session_user_id: 'ann', ...vend })) as {
    readonly id?: string;
  };
  if (id === undefined) throw new Error('nothing was opened');
  const use = () =>
    of.consume(id, { tenant_id: tenant, agent_id: 'bot', digest, grant_id: `g-${id}` });
  return { id, use };
}

describe('an escalation with the sweeper stopped', () => {
  it('approval 27 lets the second set decide at its time, not a millisecond before, on both replicas', async () => {
    const { id: tenant, admin } = await replica.people('second-set');
    const { id, use } = await open(replica, tenant, { ...OF_SET, escalate: TO_OWNERS });
    const first = await open(replica, tenant, { ...OF_SET, escalate: TO_OWNERS });
    const seconds = [replica, other].map((of) => as(of, tenant, 'dan'));
    clock.move(AFTER_S * 1000 - 1);
    for (const dan of seconds) {
      expect(told(await dan.get(`${REQUESTS}/${id}`))).toBe('404 request_not_found');
      expect(told(await approve(dan, id))).toBe('404 request_not_found');
      expect(told(await deny(dan, id))).toBe('404 request_not_found');
      expect(await waiting(dan)).toEqual([]);
      expect(await decisions(dan)).toEqual([]);
    }
    clock.move(1);
    for (const dan of seconds) {
      const shown = await dan.get(`${REQUESTS}/${id}`);
      expect(shown.body).toMatchObject({ status: 'pending', escalates_to: 'role:owner' });
      expect(Date.parse(shown.body.escalates_at)).toBe(clock.now().getTime());
      expect((await waiting(dan)).toSorted()).toEqual([id, first.id].toSorted());
    }
    expect(told(await approve(as(other, tenant, 'dan'), id))).toBe('200');
    expect(await use()).toMatchObject({ outcome: 'consumed', again: false });
    // The first set still may.
    expect(told(await approve(as(other, tenant, 'cid'), first.id))).toBe('200');
    expect(await first.use()).toMatchObject({ outcome: 'consumed' });
    const types = (await replica.eventsOf(tenant)).map(({ type }) => type);
    expect(types).not.toContain('ApprovalEscalated');
    const end = (await admin.get(`${REQUESTS}/${id}`)).body;
    expect(end).toMatchObject({ status: 'approved', responded_by: 'dan', responders: ['dan'] });
  });

  it('approval 27 lets a second person decide what one person was asked', async () => {
    const { id: tenant, ann, bob } = await replica.people('second-person');
    const { id, use } = await open(replica, tenant, { escalate: TO_BOB });
    const mine = await open(replica, tenant, { escalate: TO_BOB });
    expect(told(await approve(bob, id))).toBe('404 request_not_found');
    clock.move(AFTER_S * 1000);
    expect((await waiting(bob)).toSorted()).toEqual([id, mine.id].toSorted());
    expect((await waiting(ann)).toSorted()).toEqual([id, mine.id].toSorted());
    expect(await decisions(bob)).toContain(id);
    const shown = (await ann.get(`${REQUESTS}/${id}`)).body;
    expect(shown).toMatchObject({ user_id: 'ann', user_email: 'ann@example.com' });
    expect(shown).not.toHaveProperty('approver');
    expect(told(await approve(bob, id))).toBe('200');
    expect(await use()).toMatchObject({ outcome: 'consumed' });
    expect(told(await deny(ann, mine.id))).toBe('200');
    expect(told(await approve(bob, mine.id))).toBe('409 request_not_pending');
  });

  it('approval 27 stays with the first where it was decided before, and shows the second nothing', async () => {
    const { id: tenant, ann, bob } = await replica.people('in-time');
    const { id } = await open(replica, tenant, { escalate: TO_BOB });
    clock.move(AFTER_S * 1000 - 1);
    expect(told(await approve(ann, id))).toBe('200');
    clock.move(1_000);
    expect(told(await approve(bob, id))).toBe('404 request_not_found');
    expect(told(await bob.get(`${REQUESTS}/${id}`))).toBe('404 request_not_found');
    expect(await decisions(bob)).toEqual([]);
  });

  it('counts vouched and not excluded ones, who still stand there when it is used', async () => {
    const { id: tenant } = await replica.people('rules');
    const excludes = { escalate: TO_OWNERS, exclude_session_user: true };
    const { id } = await open(replica, tenant, { ...OF_SET, ...excludes });
    clock.move(AFTER_S * 1000);
    world.people.set(...person('ann', { roles: ['owner'] }));
    const { ann, dan } = { ann: as(replica, tenant, 'ann'), dan: as(replica, tenant, 'dan') };
    expect(told(await approve(ann, id))).toBe('403 approver_excluded');
    world.people.set(...person('dan', { roles: ['owner'], vouched: false }));
    expect(told(await approve(dan, id))).toBe('403 approver_not_vouched');
    world.people.set(...person('dan', { roles: ['owner'] }));

    const lost = await open(replica, tenant, { ...OF_SET, escalate: TO_OWNERS });
    clock.move(AFTER_S * 1000);
    expect(told(await approve(dan, lost.id))).toBe('200');
    world.people.set(...person('dan'));
    expect(await lost.use()).toEqual({ outcome: 'no_approver', reason: 'approver_lost' });
    world.people.set(...person('dan', { roles: ['owner'] }));
    expect(await lost.use()).toMatchObject({ outcome: 'consumed' });
  });

  it('approval 26 takes one of each where two have to approve', async () => {
    const { id: tenant } = await replica.people('both');
    const two = { ...OF_SET, needed: 2, escalate: TO_OWNERS };
    const { id, use } = await open(replica, tenant, two);
    const [bob, dan] = [as(replica, tenant, 'bob'), as(other, tenant, 'dan')];
    expect((await approve(bob, id)).status).toBe(202);
    clock.move(AFTER_S * 1000);
    expect(told(await approve(dan, id))).toBe('200');
    expect(await use()).toMatchObject({ outcome: 'consumed' });
  });
});

describe('the event of an escalation', () => {
  it('notifies the second addressee, in words that say why, also after the sweeper broke off', async () => {
    const { id: tenant, bob, admin } = await sweeping.people('notified');
    await sweeping.publish(userCreated(tenant, 'dan'));
    const own = () => mails.filter(({ text }) => text.includes(`in=${tenant}`));
    const { id } = await open(sweeping, tenant, { escalate: TO_OWNERS });
    await untilTrue(() => own().length === 1, { what: 'the mail to ann' });
    armFailPoints(parseFailPoints('escalation.before_event=throw@1') ?? []);
    try {
      clock.move(AFTER_S * 1000);
      // By the clock, whatever the sweeper does.
      expect(await waiting(as(sweeping, tenant, 'dan'))).toEqual([id]);
      await untilTrue(() => own().length === 2, { what: 'the mail to dan' });
    } finally {
      armFailPoints([]);
    }
    const [first, second] = own();
    expect(second).toMatchObject({ to: 'dan@example.com' });
    expect(second?.text).toContain('Nobody has decided it so far');
    expect(first?.text).not.toContain('Nobody has decided it so far');
    const recorded = (await sweeping.eventsOf(tenant)).filter(
      ({ type }) => type === 'ApprovalEscalated',
    );
    expect(recorded.map(({ data }) => data)).toMatchObject([{ to: 'role:owner' }]);
    expect(told(await bob.get(`${REQUESTS}/${id}`))).toBe('404 request_not_found');
    expect((await admin.get(`${REQUESTS}/${id}`)).body.status).toBe('pending');
  });
});
