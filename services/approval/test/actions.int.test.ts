/** Actions of a caller's own tools are shown in full, approved, and used once for exactly what was shown. */
import { pageCookies } from '@cardea/pages';
import { armFailPoints, parseFailPoints } from '@cardea/runtime';
import { type RestDriver, untilTrue } from '@cardea/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { approvalOfFile, type Tenant, wanted } from './approval-fixture.ts';
import { person, SET, setWorld } from './set-world.ts';

const REQUESTS = '/api/v1/ciba/requests';
const world = setWorld();
const fixture = approvalOfFile({ withoutSweeper: true, peers: world.peers });
beforeEach(() => {
  world.members.clear();
  world.people.clear();
  for (const id of ['ann', 'bob']) {
    world.people.set(...person(id));
    world.members.add(id);
  }
});

const details = { to: 'Ada', cents: 1_000, note: 'for "June"' };
const payment = (more: object = {}) => wanted({ action: 'pay', details, ...more });
const told = ({ status, code }: { status: number; code?: string | undefined }) =>
  `${status} ${code ?? ''}`.trim();
const approve = (by: RestDriver, id: string) => by.post(`${REQUESTS}/${id}/approve`);

/** Calls as the agent of a tenant with its key only, as it does after a night without a session. */
function keyOf({ id: tenant }: Tenant, agent = 'bot'): RestDriver {
  const { key: bearer } = fixture.tokens.agentKey({ tenantId: tenant, id: agent });
  return fixture.rest.as({ tenant, bearer });
}
const consume = (by: RestDriver, id: string, body: object = { details }, key?: string) =>
  by.post(`${REQUESTS}/${id}/consume`, body, {
    headers: key === undefined ? {} : { 'Idempotency-Key': key },
  });

async function asked(name: string, more: object = {}) {
  const tenant = await fixture.people(name);
  const made = await tenant.bot.post(REQUESTS, payment(more));
  expect(told(made)).toBe('201');
  return { ...tenant, made: made.body, request: String(made.body.id) };
}
async function approved(name: string, more: object = {}) {
  const all = await asked(name, more);
  expect(told(await approve(all.ann, all.request))).toBe('200');
  return all;
}
const usesOf = async (tenant: string) =>
  (await fixture.eventsOf(tenant)).filter(({ type }) => type === 'ApprovalConsumed');

describe('a request for an action', () => {
  it('approval 30 shows its details as they were sent, and says when it was used', async () => {
    const action_digest = 'sha256-of-the-transfer';
    const of = { action_digest, use_window_seconds: 60 };
    const { ann, bot, admin, made, request, id: tenant } = await asked('shape', of);
    const binding = {
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      action_digest,
      use_window_seconds: 60,
      consumed: false,
    };
    expect(made).toMatchObject({ details, action_binding: binding });
    expect((await bot.get(`${REQUESTS}/${request}`)).body).toEqual(made);
    expect((await ann.get(`${REQUESTS}/${request}`)).body).toMatchObject(made);
    const { details: _, ...inLists } = made;
    expect((await ann.get('/api/v1/ciba/pending')).body.requests).toEqual([inLists]);
    await approve(ann, request);
    const poll = await keyOf({ ...(await fixture.people(tenant)), id: tenant }).get(
      `/api/v1/ciba/token/${request}`,
    );
    const { body: before } = await bot.get(`${REQUESTS}/${request}`);
    const until = new Date(Date.parse(before.responded_at) + 60_000).toISOString();
    expect(poll.body.data).toMatchObject({ status: 'approved', use_before: until });
    expect(before.action_binding.use_before).toBe(until);
    const used = await consume(bot, request, { action_digest, details });
    expect([used.status, used.body]).toEqual([
      200,
      { status: 'consumed', responded_by: 'ann', responders: ['ann'], comment: null },
    ]);
    const { body: after } = await bot.get(`${REQUESTS}/${request}`);
    expect(after.action_binding).toEqual({ ...before.action_binding, consumed: true });
    const [listed] = (await admin.get(REQUESTS)).body.requests;
    expect(listed.action_binding).toEqual(after.action_binding);
    const stored = JSON.stringify((await fixture.eventsOf(tenant)).map(({ data }) => data));
    expect(stored).not.toContain('June');
  });

  it('approval 30 is 400 where it could not be shown whole', async () => {
    const { bot } = await fixture.people('too-large');
    const deep = (levels: number): object => (levels === 1 ? {} : { a: deep(levels - 1) });
    const rules = async (sent: unknown) => {
      const answer = await bot.post(REQUESTS, wanted({ details: sent }));
      return `${told(answer)} ${answer.body.error?.details?.[0]?.rule ?? ''}`.trim();
    };
    expect(await rules({ a: 'x'.repeat(16_384) })).toBe('400 invalid_request max_bytes');
    expect(await rules(deep(9))).toBe('400 invalid_request depth');
    expect(await rules({ a: Array(201).fill(0) })).toBe('400 invalid_request too_many_members');
    expect(await rules({ cents: 2 ** 60 })).toBe('400 invalid_request number_range');
    expect(await rules([1])).toBe('400 invalid_request type');
    expect(await rules('a')).toBe('400 invalid_request type');
    expect(await rules(JSON.parse('{"__proto__": {"cents": 1}}'))).toBe(
      '400 invalid_request forbidden_key',
    );
    expect(await rules({ constructor: 1 })).toBe('400 invalid_request forbidden_key');
    const answer = await bot.post(REQUESTS, wanted({ action_digest: 'with a blank inside' }));
    expect(told(answer)).toBe('400 invalid_request');
    expect(await rules(deep(8))).toBe('201');
    expect(await rules({ a: 'x'.repeat(16_384 - '{"a":""}'.length) })).toBe('201');
  });

  it('approval 30 is shown on the page whole, as text, with what cannot be seen', async () => {
    const tricky = {
      'to\u202E': 'Ada\nEve',
      cents: 5,
      '<b>': '</pre><script>alert(1)</script>',
      long: 'y'.repeat(2_000),
    };
    const { id: tenant, request } = await asked('page', { details: tricky });
    const { pageKeys } = fixture.host.needsOf('approval');
    const cookies = pageCookies(pageKeys, fixture.settings);
    const begun = cookies.begun(fixture.tokens.user({ tenantId: tenant, id: 'ann' }));
    const cookie = cookies.written(begun).split(';')[0] ?? '';
    const answer = await fetch(`${fixture.baseUrl}/approve/${request}`, {
      headers: { accept: 'text/html', cookie },
    });
    const page = await answer.text();
    expect(answer.status).toBe(200);
    expect(page).toContain('<bdi>"to[U+202E]"</bdi>: <bdi>"Ada[U+000A]Eve"</bdi>,');
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(page).toContain('y'.repeat(2_000));
    expect(page).not.toContain('\u202E');
    expect(page).toContain('exactly this, once');
  });

  it('approval 30 counts its details where an Idempotency-Key comes again', async () => {
    const { bot, id: tenant } = await fixture.people('keys');
    const ask = (more: object = {}) =>
      bot.post(REQUESTS, payment(more), { headers: { 'Idempotency-Key': 'k1' } });
    const first = await ask();
    expect((await ask()).body.id).toBe(first.body.id);
    expect(told(await ask({ details: { ...details, cents: 1_001 } }))).toBe(
      '422 idempotency_key_reused',
    );
    expect(told(await ask({ use_window_seconds: 10 }))).toBe('422 idempotency_key_reused');
    const made = (await fixture.eventsOf(tenant)).filter(
      ({ type }) => type === 'ApprovalRequested',
    );
    expect(made).toHaveLength(1);
  });
});

describe('an approved action', () => {
  it('approval 30 is not the one with a byte changed, and each refusal has its code', async () => {
    const all = await asked('refused');
    const { ann, bot, request } = all;
    const other = { details: { ...details, cents: 1_001 } };
    expect(told(await consume(bot, request))).toBe('409 request_pending');
    expect(told(await consume(bot, request, {}))).toBe('400 invalid_request');
    await approve(ann, request);
    expect(told(await consume(bot, request, other))).toBe('409 action_mismatch');
    expect(told(await consume(bot, request, { digest: 'a'.repeat(64) }))).toBe(
      '409 action_mismatch',
    );
    const { digest } = all.made.action_binding;
    expect(told(await consume(bot, request, { ...other, digest }))).toBe('409 action_mismatch');
    expect(told(await consume(bot, request, { digest }))).toBe('200');
    expect(told(await consume(bot, request))).toBe('409 already_consumed');
    const plain = (await bot.post(REQUESTS, wanted())).body.id;
    expect(told(await consume(bot, plain))).toBe('409 not_an_action');
    const denied = (await bot.post(REQUESTS, payment())).body.id;
    await ann.post(`${REQUESTS}/${denied}/deny`);
    expect(told(await consume(bot, denied))).toBe('403 request_denied');
    const late = (await bot.post(REQUESTS, payment({ use_window_seconds: 10 }))).body.id;
    await approve(ann, late);
    fixture.clock.move(10_001);
    expect(told(await consume(bot, late, other))).toBe('410 request_expired');
  });

  it('approval 30 is used once, however many use it at once', async () => {
    const { bot, request, id: tenant } = await approved('fifty');
    const answers = await Promise.all(
      Array.from({ length: 50 }, async () => {
        // A use that fails because of contention on a busy machine does not count, and is sent again.
        for (;;) {
          const answer = await consume(bot, request);
          if (answer.code !== 'write_contention') return told(answer);
        }
      }),
    );
    expect(answers.filter((each) => each === '200')).toHaveLength(1);
    expect(answers.filter((each) => each === '409 already_consumed')).toHaveLength(49);
    expect(await usesOf(tenant)).toHaveLength(1);
  });

  it('approval 30 answers a lost answer again under its key, and no other key', async () => {
    const all = await approved('lost', { use_window_seconds: 10 });
    const { bot, request, id: tenant } = all;
    armFailPoints(parseFailPoints('consume.before_answer=throw') ?? []);
    const lost = await consume(bot, request, { details }, 'k1').finally(() => armFailPoints([]));
    expect(lost.status).toBe(500);
    fixture.clock.move(60_000);
    expect(told(await consume(bot, request, { details }, 'k1'))).toBe('200');
    const { digest } = all.made.action_binding;
    expect(told(await consume(bot, request, { digest }, 'k1'))).toBe('200');
    const other = { details: { ...details, cents: 1 } };
    expect(told(await consume(bot, request, other, 'k1'))).toBe('410 request_expired');
    expect(told(await consume(bot, request, { details }, 'k2'))).toBe('410 request_expired');
    expect(await usesOf(tenant)).toHaveLength(1);
    // The same key of the same agent for another request is another use.
    const next = (await bot.post(REQUESTS, payment())).body.id;
    await approve(all.ann, next);
    expect(told(await consume(bot, next, { details }, 'k1'))).toBe('200');
  });

  it('approval 30 is used by its agent alone, with its token or its key', async () => {
    const all = await approved('agents');
    const { ann, admin, request, id: tenant } = all;
    const bearer = fixture.tokens.agent({
      tenantId: tenant,
      id: 'bot2',
      sessionId: 's2',
      userId: 'ann',
    });
    const other = fixture.rest.as({ tenant, bearer });
    expect(told(await consume(other, request))).toBe('404 request_not_found');
    expect(told(await consume(keyOf(all, 'bot2'), request))).toBe('404 request_not_found');
    expect(told(await consume(all.bot, 'unknown'))).toBe('404 request_not_found');
    expect(told(await consume(ann, request))).toBe('401 unauthenticated');
    expect(told(await consume(admin, request))).toBe('401 unauthenticated');
    const apiKey = fixture.tokens.apiKey({ tenantId: tenant, scopes: ['fga:read'] });
    expect(told(await consume(fixture.rest.as({ tenant, bearer: apiKey }), request))).toBe(
      '401 unauthenticated',
    );
    expect(told(await consume(keyOf(all), request))).toBe('200');
  });

  it('approval 30 never allows a vend, and no vend is an action', async () => {
    const all = await asked('vends', { action: 'credential_access', resource: 'github' });
    const { ann, bot, request, id: tenant } = all;
    const { digest } = all.made.action_binding;
    await approve(ann, request);
    const use = { tenant_id: tenant, agent_id: 'bot', grant_id: 'g1', digest };
    expect((await fixture.consume(request, use))['outcome']).toBe('mismatch');
    const vend = String((await fixture.open(tenant, { digest: 'd' }))['id']);
    // The request does not join the vend's request, whose page would not show its details.
    const beside = await bot.post(
      REQUESTS,
      payment({ action: 'credential_access', resource: 'github' }),
    );
    expect(beside.body.id).not.toBe(vend);
    await approve(ann, vend);
    expect(told(await consume(bot, vend, { digest: 'd'.repeat(64) }))).toBe('409 not_an_action');
    expect(told(await consume(bot, request))).toBe('200');
  });

  it('approval 30 comes with what whoever approved says to it, and a denial with its reason', async () => {
    const { ann, bot, request, id: tenant } = await asked('comment');
    const said = { comment: ' only\u202E this time\n ' };
    expect(told(await ann.post(`${REQUESTS}/${request}/approve`, said))).toBe('200');
    expect((await bot.get(`${REQUESTS}/${request}`)).body.comment).toBe('only this time');
    expect((await consume(bot, request)).body.comment).toBe('only this time');
    const other = (await bot.post(REQUESTS, wanted())).body.id;
    await ann.post(`${REQUESTS}/${other}/deny`, { reason: 'not in June' });
    expect((await bot.get(`${REQUESTS}/${other}`)).body.comment).toBe('not in June');
    const stored = JSON.stringify((await fixture.eventsOf(tenant)).map(({ data }) => data));
    expect(stored).not.toMatch(/this time|not in June/);
    const long = { comment: 'x'.repeat(281) };
    expect((await ann.post(`${REQUESTS}/${other}/approve`, long)).status).toBe(400);
  });

  it('approval 30 is nobody’s once its user is disabled or deleted', async () => {
    const all = await approved('gone');
    const { bot, request, id: tenant } = all;
    const second = (await bot.post(REQUESTS, payment())).body.id;
    await approve(all.ann, second);
    const publish = (type: string, data: object) =>
      fixture.publish({ source: 'identity', type, tenantId: tenant, streamId: 'user-ann', data });
    await publish('user.deleted', { id: 'ann', deleted_at: '2026-01-01T00:00:00.000Z' });
    const shown = await untilTrue(async () => {
      const { body } = await all.admin.get(`${REQUESTS}/${request}`);
      // The keys of a deleted user go before their row.
      return body.details === undefined && body.user_email === '' ? body : undefined;
    });
    expect(shown).toMatchObject({ status: 'approved', user_email: '' });
    const refused = await consume(bot, request);
    expect(told(refused)).toBe('403 no_approver');
    expect(refused.body.error.details).toEqual({ reason: 'approver_lost' });
    expect(await usesOf(tenant)).toEqual([]);
  });

  it('approval 30 of a set is used while as many as had to still hold it', async () => {
    const { admin, ann, bob, bot, id: tenant } = await fixture.people('set');
    const body = payment({ user_id: SET, approvals_needed: 2 });
    const make = async () => (await admin.post(REQUESTS, body)).body.id as string;
    const request = await make();
    expect(told(await approve(ann, request))).toBe('202');
    expect(told(await approve(bob, request))).toBe('200');
    world.members.delete('ann');
    expect(told(await consume(bot, request))).toBe('403 no_approver');
    world.isSilent = true;
    const silent = await consume(bot, request).finally(() => {
      world.isSilent = false;
    });
    expect(silent.status).toBe(503);
    expect(await usesOf(tenant)).toEqual([]);
    world.members.add('ann');
    const used = await consume(bot, request);
    expect(used.body).toMatchObject({ responded_by: 'bob', responders: ['ann', 'bob'] });
  });
});
