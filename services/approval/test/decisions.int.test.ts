/** Requests over HTTP: created, read, and decided once. */
import { untilTrue } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { approvalOfFile, wanted } from './approval-fixture.ts';
import { pageBrowser } from './page-browser.ts';

const fixture = approvalOfFile({ withoutSweeper: true });

const REQUESTS = '/api/v1/ciba/requests';
const codeOf = ({ status, code }: { status: number; code: string | undefined }) =>
  `${status} ${code}`;

describe('a request for a decision', () => {
  it('approval 1 is made, seen, approved by its user, and final', async () => {
    const { ann, bot, id: tenant } = await fixture.people('one');
    const body = wanted({ resource: 'orders', reason: 'clean up', severity: 'low' });
    const made = await bot.post(REQUESTS, body);
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      ...body,
      id: expect.any(String),
      tenant_id: tenant,
      agent_name: 'Deploy Bot',
      origin: 'agent',
      user_vouched: true,
      user_email: 'ann@example.com',
      status: 'pending',
      created_at: expect.any(String),
      expires_at: new Date(Date.parse(made.body.created_at) + 300_000).toISOString(),
      responded_at: null,
      responded_by: null,
    });
    const path = `${REQUESTS}/${made.body.id}`;
    expect((await bot.get(path)).body).toEqual(made.body);
    expect((await ann.get('/api/v1/ciba/pending')).body).toEqual({ requests: [made.body] });

    const approved = await ann.post(`${path}/approve`);
    expect([approved.status, approved.body]).toEqual([200, { status: 'approved' }]);
    expect((await ann.get(path)).body).toEqual({
      ...made.body,
      status: 'approved',
      responded_by: 'ann',
      responded_at: expect.any(String),
      ip: expect.any(String),
      first_request: true,
      last_approved_at: null,
      allowed_decisions: [],
    });
    expect((await ann.get('/api/v1/ciba/pending')).body).toEqual({ requests: [] });
    expect(codeOf(await ann.post(`${path}/approve`))).toBe('409 request_not_pending');
    expect(codeOf(await ann.post(`${path}/deny`))).toBe('409 request_not_pending');
  });

  it('identity 31 is among what its user takes along, page by page, and nobody else’s', async () => {
    const { ann, bob, bot, id: tenant } = await fixture.people('own');
    const ids: string[] = [];
    for (let made = 0; made < 3; made += 1) {
      ids.unshift(String((await bot.post(REQUESTS, wanted())).body.id));
    }
    await ann.post(`${REQUESTS}/${ids[0]}/deny`);
    const own = '/api/v1/me/decisions';
    const first = await ann.get(own, { query: { limit: '2' } });
    const { next_cursor: cursor } = first.body;
    const second = await ann.get(own, { query: { limit: '2', cursor } });
    const all = [...first.body.requests, ...second.body.requests];
    expect(all.map(({ id }: { id: string }) => id)).toEqual(ids);
    expect(all[0]).toMatchObject({ status: 'denied', responded_by: 'ann' });
    expect(second.body.next_cursor).toBeNull();
    expect((await bob.get(own)).body).toEqual({ requests: [], next_cursor: null });
    expect(codeOf(await bot.get(own))).toBe('401 user_session_required');
    expect(codeOf(await ann.get(own, { query: { cursor: 'x' } }))).toBe('400 invalid_request');
    // The page shows what is over alone: the rest waits.
    const pageAs = (id: string) =>
      pageBrowser(fixture, fixture.tokens.user({ tenantId: tenant, id }));
    for (const path of ['/account/decisions', '/account/decisions?part=recent']) {
      const { text } = await pageAs('ann').get(path);
      expect(text.match(/href="\/approve\/[^"]+"/g)).toEqual([`href="/approve/${ids[0]}"`]);
      expect(text).toContain('Denied');
      expect((await pageAs('bob').get(path)).text).toContain('You have decided nothing yet.');
    }
  });

  it('approval 2 is decided once, however many decide at once', async () => {
    const { ann, bot, id: tenant } = await fixture.people('two');
    const { body } = await bot.post(REQUESTS, wanted());
    // On a busy machine a decision may fail because of contention. It has then decided nothing and is sent again.
    const decide = async (verb: 'approve' | 'deny') => {
      for (;;) {
        const answer = await ann.post(`${REQUESTS}/${body.id}/${verb}`);
        if (answer.code !== 'write_contention') return answer;
      }
    };
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, at) => decide(at % 2 === 0 ? 'approve' : 'deny')),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(39);
    const events = await fixture.eventsOf(tenant);
    const decisions = events.filter(({ type }) => /^Approval(Approved|Denied)$/.test(type));
    expect(decisions).toHaveLength(1);
  });

  it('approval 3 reads as expired everywhere once its time is over, without the sweeper', async () => {
    const { ann, bot, admin } = await fixture.people('three');
    const first = await bot.post(REQUESTS, wanted({ ttl_seconds: 1 }));
    const second = await bot.post(REQUESTS, wanted({ ttl_seconds: 1 }));
    fixture.clock.move(2_000);
    const listed = await admin.get(REQUESTS, { query: { status: 'expired' } });
    expect(listed.body.total).toBe(2);
    expect(listed.body.requests.map(({ status }: { status: string }) => status)).toEqual([
      'expired',
      'expired',
    ]);
    expect((await admin.get(REQUESTS, { query: { status: 'pending' } })).body.total).toBe(0);
    expect((await ann.get('/api/v1/ciba/pending')).body.requests).toEqual([]);
    expect((await ann.get(`${REQUESTS}/${first.body.id}`)).body.status).toBe('expired');
    expect((await ann.get(`${REQUESTS}/${first.body.id}/poll`)).body.status).toBe('expired');
    expect(codeOf(await ann.post(`${REQUESTS}/${second.body.id}/approve`))).toBe(
      '410 request_expired',
    );
    expect(codeOf(await ann.post(`${REQUESTS}/${second.body.id}/deny`))).toBe(
      '410 request_expired',
    );
  });

  it('approval 4 is approved for ever or expired for ever, when both come at once', async () => {
    const { ann, admin } = await fixture.people('four');
    for (let round = 0; round < 20; round++) {
      const { body } = await ann.post(REQUESTS, wanted({ ttl_seconds: 1 }));
      const path = `${REQUESTS}/${body.id}`;
      const left = Date.parse(body.expires_at) - fixture.clock.now().getTime();
      fixture.clock.move(left - (round % 10));
      const [approved, seen] = await Promise.all([ann.post(`${path}/approve`), admin.get(path)]);
      const ended = (await admin.get(path)).body.status;
      expect(ended).toBe(approved.status === 200 ? 'approved' : 'expired');
      expect(approved.status === 200 || approved.status === 410).toBe(true);
      if (seen.body.status !== 'pending') expect(seen.body.status).toBe(ended);
    }
  });

  it('approval 5 is decided by no agent, be its subject the user, and by no impersonating admin', async () => {
    const { ann, bot, id: tenant } = await fixture.people('five');
    const { body } = await bot.post(REQUESTS, wanted());
    const claims = { act: { sub: 'adm' } };
    const bearer = fixture.tokens.user({ tenantId: tenant, id: 'ann', claims });
    const impersonator = fixture.rest.as({ tenant, bearer });
    for (const caller of [bot, impersonator]) {
      for (const call of [
        () => caller.post(`${REQUESTS}/${body.id}/approve`),
        () => caller.post(`${REQUESTS}/${body.id}/deny`),
        () => caller.get('/api/v1/ciba/pending'),
      ]) {
        expect(codeOf(await call())).toBe('401 user_session_required');
      }
    }
    const refused = (await fixture.eventsOf(tenant)).filter(
      ({ type }) => type === 'DecisionRefused',
    );
    expect(refused).toHaveLength(4);
    expect(codeOf(await bot.post(`${REQUESTS}/unknown/approve`))).toBe('401 user_session_required');
    // A refusal is answered after at most a quarter of a second, whether or not it was recorded by then.
    const denials = await untilTrue(async () => {
      const denied = (await fixture.eventsOf(tenant)).filter(({ type }) => type === 'ActionDenied');
      return denied.length >= 3 ? denied : undefined;
    });
    expect(denials.map(({ data }) => (data as { operation: string }).operation).sort()).toEqual([
      'approve_request',
      'list_pending_approvals',
      'list_pending_approvals',
    ]);
    expect((await ann.get(`${REQUESTS}/${body.id}`)).body.status).toBe('pending');
    const roles = ['admin'];
    const asAdmin = fixture.tokens.user({ tenantId: tenant, id: 'ann', roles, claims });
    for (const caller of [bot, fixture.rest.as({ tenant, bearer: asAdmin })]) {
      expect(codeOf(await caller.get(REQUESTS))).toBe('403 forbidden');
    }
    const apiKey = fixture.tokens.apiKey({ tenantId: tenant, scopes: ['agents:write'] });
    const keyed = fixture.rest.as({ tenant, bearer: apiKey });
    expect(codeOf(await keyed.post(`${REQUESTS}/${body.id}/approve`))).toBe('401 unauthenticated');
  });

  it('approval 6 is unknown to everyone but its user, in the same words as one that never was', async () => {
    const { bot, bob, admin } = await fixture.people('six');
    const elsewhere = await fixture.people('six-b');
    const { body } = await bot.post(REQUESTS, wanted());
    const answers = await Promise.all([
      bob.post(`${REQUESTS}/${body.id}/approve`),
      admin.post(`${REQUESTS}/${body.id}/approve`),
      elsewhere.ann.post(`${REQUESTS}/${body.id}/approve`),
      bob.post(`${REQUESTS}/unknown/approve`),
      bob.get(`${REQUESTS}/${body.id}`),
      elsewhere.admin.get(`${REQUESTS}/${body.id}`),
    ]);
    const said = answers.map(({ status, body: { error } }) =>
      JSON.stringify({ status, ...error, request_id: null }),
    );
    expect(new Set(said).size).toBe(1);
    expect(codeOf(answers[0] as never)).toBe('404 request_not_found');
    expect((await admin.get(`${REQUESTS}/${body.id}`)).status).toBe(200);
  });

  it('approval 7 is approved without a body, in every way of sending none', async () => {
    const { ann, id: tenant } = await fixture.people('seven');
    const bearer = fixture.tokens.user({ tenantId: tenant, id: 'ann' });
    const headers = { authorization: `Bearer ${bearer}`, 'x-service-tenant': tenant };
    const json = { ...headers, 'content-type': 'application/json' };
    const ways: RequestInit[] = [
      { headers },
      { headers: json, body: '' },
      { headers: json, body: '{}' },
      { headers, body: new TextEncoder().encode('{}') },
    ];
    for (const way of ways) {
      const { body } = await ann.post(REQUESTS, wanted());
      const url = `${fixture.baseUrl}${REQUESTS}/${body.id}/approve`;
      const answer = await fetch(url, { method: 'POST', ...way });
      expect(answer.status).toBe(200);
      await answer.body?.cancel();
    }
    const { body } = await ann.post(REQUESTS, wanted());
    const odd = await ann.post(`${REQUESTS}/${body.id}/approve`, { x: 1 });
    expect(codeOf(odd)).toBe('400 invalid_request');
  });
});

describe('vault', () => {
  it('approval 13 uses an approval for one grant, however often it asks', async () => {
    const { ann, id: tenant } = await fixture.people('thirteen');
    const opened = await fixture.open(tenant, { digest: 'd1' });
    expect(opened).toEqual({
      outcome: 'opened',
      id: expect.any(String),
      expires_in: 300,
      binding_message: expect.stringMatching(/^Deploy Bot: github \(token\) · code \d{4}$/),
    });
    const id = String(opened['id']);
    const ask = { tenant_id: tenant, agent_id: 'bot', digest: 'd1', grant_id: 'g1' };
    expect((await fixture.consume(id, ask)).outcome).toBe('pending');
    expect((await ann.post(`${REQUESTS}/${id}/approve`)).status).toBe(200);
    const all = await Promise.all(Array.from({ length: 50 }, () => fixture.consume(id, ask)));
    expect(all.map(({ outcome }) => outcome)).toEqual(Array(50).fill('consumed'));
    expect(all.filter(({ again }) => again === false)).toHaveLength(1);
    const events = await fixture.eventsOf(tenant);
    expect(events.filter(({ type }) => type === 'ApprovalConsumed')).toHaveLength(1);
    const outcomes = [
      await fixture.consume(id, { ...ask, grant_id: 'g2' }),
      await fixture.consume(id, { ...ask, digest: 'd2' }),
      await fixture.consume(id, { ...ask, agent_id: 'other' }),
      await fixture.consume(id, { ...ask, tenant_id: 'other' }),
    ].map(({ outcome }) => outcome);
    expect(outcomes).toEqual(['consumed_by_other', 'mismatch', 'not_found', 'not_found']);
  });
});
