import { accept } from '@cardea/event-store';
import type { Mail } from '@cardea/mail';
import { type RestDriver, untilTrue } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { sealWord } from '../src/requests/approval-requests/make-request.ts';
import {
  type Binding,
  type RequestFacts,
  requests,
} from '../src/requests/approval-requests/request.ts';
import { approvalOfFile, type Tenant, userEvent, type Vend, wanted } from './approval-fixture.ts';
import { pageBrowser } from './page-browser.ts';

const mails: Mail[] = [];
const mail = { send: async (one: Mail) => void mails.push(one), close: () => {} };
const fixture = approvalOfFile({ withoutSweeper: true, mail });

const REQUESTS = '/api/v1/ciba/requests';
const NAMED = [
  { id: 'p1', version: 1, name: 'Payroll by a person' },
  { id: 'p2', version: 7 },
];
const FACTS = [
  'policies',
  'ip',
  'purpose',
  'grant_ttl_seconds',
  'deputy_for_name',
  'first_request',
  'last_approved_at',
];
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
const browserOf = (tenantId: string, id: string, language: string) =>
  pageBrowser(fixture, fixture.tokens.user({ tenantId, id }), language);
const pageOf = async ({ id: tenantId }: Tenant, id: string, language = 'en') =>
  (await browserOf(tenantId, 'ann', language).get(`/approve/${id}`)).text;
async function namesOf(tenant: string): Promise<string> {
  const { rows } = await fixture.host
    .needsOf('approval')
    .database.system.query<{ name: string | null }>(
      'SELECT display_name AS name FROM approval.users WHERE tenant_id = $1 ORDER BY user_id',
      [tenant],
    );
  return rows.map(({ name }) => name ?? '').join();
}

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
      grant_ttl_seconds: 900,
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
    expect(page).toContain('the agent gets them for at most 15 minutes.');
    // The sentence of the server repeats all of it, so the purpose stands there once.
    expect(page.match(/nightly/g)).toHaveLength(1);
    const german = await pageOf(tenant, first, 'de');
    expect(german).toContain('Es ist die erste Anfrage dieses Agenten.');
    expect(german).toContain('bekommt der Agent sie für höchstens 15 Minuten.');

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

  it('reads a request of an earlier release, which does not say how long a grant lasts', async () => {
    const tenant = await fixture.people('earlier-release');
    const id = await vended(tenant);
    const [asked] = (await fixture.eventsOf(tenant.id)).filter(
      ({ type }) => type === 'ApprovalRequested',
    );
    const facts = asked?.data as RequestFacts;
    const { grant_ttl_seconds: _, ...binding } = facts.binding as Binding;
    const { purpose: _purpose, ip: _ip, ...rest } = facts;
    const needs = fixture.host.needsOf('approval');
    const old = `${id}-earlier`;
    const place = { tenantId: tenant.id, userId: 'ann', requestId: old, isToSet: false };
    const said = 'Release token of github; for up to 15 minutes; the agent says: nightly';
    const reason = await sealWord(needs, place, 'reason', said);
    if (reason === 'erased') throw new Error('nobody has erased that person');
    const command = needs.systemCommand(tenant.id, 'earlier-release');
    await needs.streams.decideOn(requests, old, command, () =>
      accept({ type: 'ApprovalRequested', data: { ...rest, binding, reason, id: old } }),
    );
    const seen = (await tenant.ann.get(`${REQUESTS}/${old}`)).body;
    expect(seen).toMatchObject({ allowed_decisions: ['approve', 'deny'] });
    expect(seen).not.toHaveProperty('grant_ttl_seconds');
    const page = await pageOf(tenant, old);
    expect(page).toContain('the agent gets them for a short time.');
    expect(page).toContain(said);
    expect(await pageOf(tenant, old, 'de')).toContain('bekommt der Agent sie für kurze Zeit.');
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

describe('a deputy', () => {
  it('is called by name, else by address, on pages and in mails, and so is the absent person', async () => {
    const tenant = await fixture.people('called');
    const { id: of, ann, bob, bot, admin } = tenant;
    const until = new Date(fixture.clock.now().getTime() + 86_400_000).toISOString();
    const named = (by: RestDriver, user_id: string) =>
      by.put('/api/v1/ciba/deputy', { user_id, until });
    const pageAs = async (id: string, path: string, language = 'en') =>
      (await browserOf(of, id, language).get(path)).text;
    const shown = (label: string, name: string) => `<dt>${label}</dt><dd>${name}</dd>`;
    for (const [id, display_name] of [
      ['ann', ''],
      ['bob', 'Bob B.'],
    ] as const) {
      const changed = { display_name, changed: ['display_name'] };
      await fixture.publish(userEvent(of, id, 'user.updated', changed));
    }
    await untilTrue(async () => (await namesOf(of)) === ',Bob B.');

    expect((await named(ann, 'bob')).body.deputy).toMatchObject({ user_id: 'bob', name: 'Bob B.' });
    expect(await pageAs('ann', '/account/deputy')).toContain(shown('Deputy', 'Bob B.'));
    const id = await vended(tenant);
    const asDeputy = shown('You decide as the deputy of', 'ann@example.com');
    expect(await pageAs('bob', `/approve/${id}`)).toContain(asDeputy);
    await untilTrue(() => mails.some(({ text }) => text.includes('deputy of ann@example.com.')));
    expect(mails.map(({ text }) => text).join()).toContain('Bob B. decides in your place');

    expect((await bob.get(`${REQUESTS}/${id}`)).body.deputy_for_name).toBe('ann@example.com');
    expect((await admin.get(`${REQUESTS}/${id}`)).body.deputy_for_name).toBe('ann@example.com');
    // An agent learns no address.
    const seen = (await bot.get(`${REQUESTS}/${id}`)).body;
    expect(seen).toMatchObject({ deputy_for: 'ann' });
    expect(JSON.stringify(seen)).not.toContain('ann@example.com');

    expect((await named(bob, 'ann')).status).toBe(200);
    const german = shown('Vertretung', 'ann@example.com');
    expect(await pageAs('bob', '/account/deputy', 'de')).toContain(german);
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
