/** The request shows who made it, and whether the tenant vouches for the user who decides. */
import { changedKey } from '@cardea/auth';
import { testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApprovalFixture, approvalFixture, wanted } from './approval-fixture.ts';

const database = testDatabase();
let fixture: ApprovalFixture;
const mails: { readonly to: string; readonly text: string }[] = [];
beforeAll(async () => {
  const mail = { send: async (one: { to: string; text: string }) => void mails.push(one) };
  fixture = await approvalFixture(database.url, {
    withoutSweeper: true,
    mail: { ...mail, close: () => {} },
  });
});
afterAll(async () => {
  await fixture?.stop();
});

const REQUESTS = '/api/v1/ciba/requests';
const USE = { agent_id: 'bot', digest: 'd', grant_id: 'g' };

describe('S12 a request that asks for a person who is vouched for', () => {
  it('S12 is not opened for one who is not, nor for one who is unknown', async () => {
    const { id: tenant } = await fixture.people('vouch-open');
    await fixture.vouch(tenant, 'ann', false);
    expect(await fixture.open(tenant, { digest: 'd' })).toEqual({ outcome: 'user_not_vouched' });
    expect(await fixture.open(tenant, { digest: 'd', user_id: 'stranger' })).toEqual({
      outcome: 'user_not_vouched',
    });
    expect(await fixture.eventsOf(tenant)).toEqual([]);
    await fixture.vouch(tenant, 'ann', true);
    expect((await fixture.open(tenant, { digest: 'd' })).outcome).toBe('opened');
  });

  it('S12 is not approved by one who is vouched for no longer, before any other extra is asked for', async () => {
    const { ann, id: tenant } = await fixture.people('vouch-approve');
    const strict = { number_match: true, max_auth_age_seconds: 1 };
    const opened = await fixture.open(tenant, { digest: 'd', ...strict });
    const path = `${REQUESTS}/${opened['id']}`;
    fixture.clock.move(2_000);
    expect((await ann.post(`${path}/approve`)).code).toBe('step_up_required');
    await fixture.vouch(tenant, 'ann', false);
    const refused = await ann.post(`${path}/approve`);
    expect([refused.status, refused.code]).toEqual([403, 'approver_not_vouched']);
    expect((await ann.get(path)).body).toMatchObject({ status: 'pending', user_vouched: false });
    expect((await ann.post(`${path}/deny`)).status).toBe(200);
    expect((await ann.post(`${path}/approve`)).code).toBe('request_not_pending');
  });

  it('S12 is of no use once the person who approved is vouched for no longer', async () => {
    const { ann, id: tenant } = await fixture.people('vouch-use');
    const { id } = await fixture.open(tenant, { digest: 'd' });
    expect((await ann.post(`${REQUESTS}/${id}/approve`)).status).toBe(200);
    await fixture.vouch(tenant, 'ann', false);
    const use = { tenant_id: tenant, ...USE };
    expect(await fixture.consume(String(id), use)).toEqual({ outcome: 'user_not_vouched' });
    // The user was vouched for at the time of the decision, and the request keeps that fact.
    expect((await ann.get(`${REQUESTS}/${id}`)).body.user_vouched).toBe(true);
    await fixture.vouch(tenant, 'ann', true);
    expect((await fixture.consume(String(id), use)).outcome).toBe('consumed');
  });

  it('S12 is judged by identity where a change has not come here yet', async () => {
    const { ann, id: tenant } = await fixture.people('vouch-late');
    const { identity } = fixture.host.needsOf('approval').peers;
    const { id } = await fixture.open(tenant, { digest: 'd' });
    const { facts } = identity;
    const key = changedKey('user', 'ann');
    try {
      const user = { status: 'active', vouched: false };
      Object.assign(identity, { facts: async () => ({ agent: null, session: null, user }) });
      await fixture.shared.cache.raise(key, 2n ** 62n, 60_000);
      expect((await ann.post(`${REQUESTS}/${id}/approve`)).code).toBe('approver_not_vouched');
      await fixture.shared.cache.delete(key);
      expect((await ann.post(`${REQUESTS}/${id}/approve`)).status).toBe(200);
    } finally {
      await fixture.shared.cache.delete(key);
      Object.assign(identity, { facts });
    }
  });
});

describe('approval 1 a request', () => {
  it('approval 1 says in every answer who made it, and whether the user is vouched for', async () => {
    const { ann, admin, bot, id: tenant } = await fixture.people('origins');
    await fixture.vouch(tenant, 'bob', false);
    const own = await ann.post(REQUESTS, wanted());
    const admins = await admin.post(REQUESTS, wanted({ user_id: 'bob' }));
    const agents = await bot.post(REQUESTS, wanted());
    const vend = await fixture.open(tenant, { digest: 'd' });
    const shown = [own, admins, agents].map(({ body }) => [body.origin, body.user_vouched]);
    expect(shown).toEqual([
      ['self', true],
      ['admin', false],
      ['agent', true],
    ]);
    const listed = (await admin.get(REQUESTS)).body.requests as { id: string; origin: string }[];
    const originOf = Object.fromEntries(listed.map(({ id, origin }) => [id, origin]));
    expect(originOf).toEqual({
      [own.body.id]: 'self',
      [admins.body.id]: 'admin',
      [agents.body.id]: 'agent',
      [String(vend['id'])]: 'vend',
    });
    const pending = (await ann.get('/api/v1/ciba/pending')).body.requests;
    expect(pending.every((one: { user_vouched: boolean }) => one.user_vouched)).toBe(true);
    await untilTrue(() => mails.some(({ text }) => text.includes('You have asked yourself')));
    await untilTrue(() => mails.some(({ text }) => text.includes('An administrator asks')));
  });

  it('of before keeps its origin in lists, where its row does not say it', async () => {
    const { ann, id: tenant } = await fixture.people('origin-of-before');
    const { body } = await ann.post(REQUESTS, wanted());
    await fixture.shared.database.system.query(
      'UPDATE approval.requests SET origin = NULL WHERE tenant_id = $1',
      [tenant],
    );
    const [listed] = (await ann.get('/api/v1/ciba/pending')).body.requests;
    expect(listed).toEqual(body);
  });

  it('tells others who made it, and whether who answered was vouched for then', async () => {
    const { ann, bob, admin, id: tenant } = await fixture.people('origin-told');
    await fixture.vouch(tenant, 'bob', false);
    const told: { type: string; data: { [field: string]: unknown } }[] = [];
    const running = await fixture.shared.subscriberFor('webhooks').run({
      name: 'listener',
      topics: ['cardea.approval.events.v1'],
      types: ['approval.requested', 'approval.approved', 'approval.denied'],
      handle: async (events) => {
        told.push(...events.filter(({ tenantId }) => tenantId === tenant));
      },
    });
    try {
      const { body: own } = await ann.post(REQUESTS, wanted());
      const { body: bobs } = await admin.post(REQUESTS, wanted({ user_id: 'bob' }));
      await ann.post(`${REQUESTS}/${own.id}/approve`);
      await bob.post(`${REQUESTS}/${bobs.id}/deny`);
      await untilTrue(() => told.length >= 4);
    } finally {
      await running.stop();
    }
    const said = told.map(({ type, data }) => [type, data['origin'], data['user_vouched']]);
    expect(said.sort()).toEqual([
      ['approval.approved', 'self', true],
      ['approval.denied', 'admin', false],
      ['approval.requested', 'admin', false],
      ['approval.requested', 'self', true],
    ]);
  });
});

describe('approving with the token of an agent', () => {
  it('S2 answers byte-equal, whether there is such a request or not', async () => {
    const here = await fixture.people('byte-equal-a');
    const there = await fixture.people('byte-equal-b');
    const own = (await here.bob.post(REQUESTS, wanted({ user_id: 'bob' }))).body.id;
    const foreign = (await there.ann.post(REQUESTS, wanted())).body.id;
    const answers = [];
    for (const id of [own, foreign, 'no-such-request']) {
      for (const verb of ['approve', 'deny']) {
        const { status, body, headers } = await here.bot.post(`${REQUESTS}/${id}/${verb}`);
        const seen = [...headers].filter(([name]) => name !== 'date' && name !== 'x-request-id');
        answers.push({ status, error: { ...body.error, request_id: '' }, seen });
      }
    }
    expect(answers[0]).toMatchObject({ status: 401, error: { code: 'user_session_required' } });
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  });
});
