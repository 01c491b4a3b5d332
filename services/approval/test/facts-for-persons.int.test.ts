import { describe, expect, it } from 'vitest';
import { approvalOfFile, type Tenant, type Vend, wanted } from './approval-fixture.ts';
import { pageBrowser } from './page-browser.ts';

const fixture = approvalOfFile({ withoutSweeper: true });

const REQUESTS = '/api/v1/ciba/requests';
const NAMED = [
  { id: 'p1', version: 1, name: 'Payroll by a person' },
  { id: 'p2', version: 7 },
];
const FACTS = ['policies', 'ip', 'purpose', 'first_request', 'last_approved_at'];
const DECISIONS = ['allowed_decisions', 'approve_refusal'];

let vends = 0;
async function vended({ id }: Tenant, more: Partial<Vend> = {}): Promise<string> {
  vends += 1;
  const opened = await fixture.open(id, {
    digest: `d${vends}`,
    policies: NAMED,
    purpose: 'nightly\u202E <b>build</b>',
    ...more,
  });
  expect(opened.outcome).toBe('opened');
  return String(opened['id']);
}
const pageOf = async ({ id: tenantId }: Tenant, id: string, language = 'en') => {
  const token = fixture.tokens.user({ tenantId, id: 'ann' });
  return (await pageBrowser(fixture, token, language).get(`/approve/${id}`)).text;
};

describe('a person who is asked', () => {
  it('sees the policies, the address, the purpose, and whether the agent is new', async () => {
    const tenant = await fixture.people('judged');
    const { ann, admin } = tenant;
    const first = await vended(tenant);
    const seen = (await ann.get(`${REQUESTS}/${first}`)).body;
    expect(seen).toMatchObject({
      policies: ['Payroll by a person', 'p2'],
      ip: '10.0.0.1',
      purpose: 'nightly <b>build</b>',
      first_request: true,
      last_approved_at: null,
      allowed_decisions: ['approve', 'deny'],
    });
    expect((await admin.get(`${REQUESTS}/${first}`)).body).toEqual({
      ...seen,
      allowed_decisions: [],
      approve_refusal: 'request_not_found',
    });
    const page = await pageOf(tenant, first);
    for (const text of [
      'This is the first request of this agent.',
      'Payroll by a person',
      '10.0.0.1',
      'nightly &lt;b&gt;build&lt;/b&gt;',
    ]) {
      expect(page).toContain(text);
    }
    expect(page).not.toContain('\u202E');
    expect(await pageOf(tenant, first, 'de')).toContain('Es ist die erste Anfrage dieses Agenten.');

    expect((await ann.post(`${REQUESTS}/${first}/approve`)).status).toBe(200);
    const { responded_at } = (await ann.get(`${REQUESTS}/${first}`)).body;
    const second = await vended(tenant);
    expect((await ann.get(`${REQUESTS}/${second}`)).body).toMatchObject({
      first_request: false,
      last_approved_at: responded_at,
    });
    expect(await pageOf(tenant, second)).toContain(`Last approval: ${responded_at.slice(0, 10)}`);
    expect(await pageOf(tenant, second, 'de')).toContain('Letzte Zustimmung: ');
  });

  it('is told that nothing was approved so far, and of no other agent or person', async () => {
    const tenant = await fixture.people('never-approved');
    const { ann, bob, bot, admin } = tenant;
    // A request of another agent to ann, and one of this agent to bob.
    const other = wanted({ agent_id: 'another' });
    const theirs = [
      await ann.post(REQUESTS, other),
      await bob.post(REQUESTS, wanted({ user_id: 'bob' })),
    ];
    expect((await ann.post(`${REQUESTS}/${theirs[0]?.body.id}/approve`)).status).toBe(200);
    expect((await bob.post(`${REQUESTS}/${theirs[1]?.body.id}/approve`)).status).toBe(200);
    const first = (await bot.post(REQUESTS, wanted())).body;
    expect((await ann.get(`${REQUESTS}/${first.id}`)).body).toMatchObject({ first_request: true });
    expect((await ann.post(`${REQUESTS}/${first.id}/deny`)).status).toBe(200);
    const second = (await bot.post(REQUESTS, wanted({ action: 'delete_data' }))).body;
    const seen = (await admin.get(`${REQUESTS}/${second.id}`)).body;
    expect(seen).toMatchObject({ first_request: false, last_approved_at: null });
    // It was made over REST, so no policy and no session's purpose belongs to it.
    expect(seen).not.toHaveProperty('policies');
    expect(seen).not.toHaveProperty('purpose');
    expect(await pageOf(tenant, second.id)).toContain('None of them was approved.');
  });

  it('learns nothing about the agent from what persons ask in its name', async () => {
    const tenant = await fixture.people('by-persons');
    for (const by of [tenant.ann, tenant.admin]) {
      const { id } = (await by.post(REQUESTS, wanted())).body;
      const seen = (await tenant.ann.get(`${REQUESTS}/${id}`)).body;
      expect(seen.ip).toEqual(expect.any(String));
      expect(seen).not.toHaveProperty('first_request');
      expect(seen).not.toHaveProperty('last_approved_at');
    }
  });
});

describe('an agent', () => {
  it('sees none of it, nor does any list, any poll or any published event', async () => {
    const tenant = await fixture.people('unjudged');
    const { ann, bot, admin } = tenant;
    const id = await vended(tenant);
    const answers = [
      (await bot.get(`${REQUESTS}/${id}`)).body,
      (await ann.get('/api/v1/ciba/pending')).body.requests[0],
      (await admin.get(REQUESTS)).body.requests[0],
      (await ann.get('/api/v1/me/decisions')).body.requests[0],
    ];
    expect((await ann.post(`${REQUESTS}/${id}/approve`)).status).toBe(200);
    answers.push((await bot.get(`${REQUESTS}/${id}/poll`)).body);
    answers.push((await ann.get(`${REQUESTS}/${id}/poll`)).body);
    for (const answer of answers) {
      expect(answer.id).toBe(id);
      for (const fact of [...FACTS, ...DECISIONS]) expect(answer).not.toHaveProperty(fact);
    }
    const [asked] = (await fixture.eventsOf(tenant.id)).filter(
      ({ type }) => type === 'ApprovalRequested',
    );
    const stored = JSON.stringify(asked?.data);
    expect(stored).not.toContain('nightly <b>');
    expect(stored).not.toContain('10.0.0.1');
  });
});
