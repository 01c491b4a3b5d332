import { beforeEach, describe, expect, it } from 'vitest';
import { approvalOfFile, type Tenant, wanted } from './approval-fixture.ts';
import { pageBrowser } from './page-browser.ts';
import { person, SET, setWorld } from './set-world.ts';

const world = setWorld();
const fixture = approvalOfFile({ peers: world.peers, withoutSweeper: true });
beforeEach(() => {
  world.members.clear();
  world.people.clear();
  for (const id of ['ann', 'bob', 'cid']) world.people.set(...person(id));
  world.people.set(...person('adm', { roles: ['member', 'admin'] }));
  world.members.add('bob').add('cid');
});

const REQUESTS = '/api/v1/ciba/requests';
const FORMS = ['approve', 'deny'] as const;
type Form = (typeof FORMS)[number];
const NOT_YOURS = 'only the people who are asked can decide it';
const RELATION = { relation: 'approver', object_type: 'team', object_id: 'payments' };
const OF_SET = { user_id: SET, approver: RELATION, session_user_id: 'ann' };

type Case = {
  readonly viewer: string;
  readonly by: string;
  readonly roles?: readonly string[];
  /** Makes the request, and what else has to hold. Returns its id. */
  readonly asked: (tenant: Tenant) => Promise<string>;
  /** The forms that the page offers. */
  readonly offers: readonly Form[];
  /** What the page says in place of the others. */
  readonly says?: string;
  /** The status of each form that is pressed although it is not offered. */
  readonly refused?: number;
};

let vends = 0;
const vended = async ({ id }: Tenant, more: object = {}): Promise<string> => {
  vends += 1;
  return String((await fixture.open(id, { digest: `d${vends}`, ...more }))['id']);
};
const askedOf = async ({ admin }: Tenant, more: object = {}): Promise<string> =>
  (await admin.post(REQUESTS, wanted({ user_id: SET, ...more }))).body.id;

/** Two of the set have to approve, and bob has. */
const onceApproved = async (tenant: Tenant): Promise<string> => {
  const id = await askedOf(tenant, { approvals_needed: 2 });
  expect((await tenant.bob.post(`${REQUESTS}/${id}/approve`)).status).toBe(202);
  return id;
};

const CASES: readonly Case[] = [
  {
    viewer: 'the person',
    by: 'ann',
    asked: async ({ bot }) => (await bot.post(REQUESTS, wanted())).body.id,
    offers: FORMS,
  },
  { viewer: 'the person whom a vend asks', by: 'ann', asked: vended, offers: FORMS },
  {
    viewer: 'the person whose vouch has ended',
    by: 'ann',
    asked: async (tenant) => {
      const id = await vended(tenant);
      await fixture.vouch(tenant.id, 'ann', false);
      return id;
    },
    offers: ['deny'],
    says: 'whom an administrator has vouched for',
    refused: 403,
  },
  {
    viewer: 'an administrator who is not the person',
    by: 'adm',
    roles: ['admin'],
    asked: async ({ bot }) => (await bot.post(REQUESTS, wanted())).body.id,
    offers: [],
    says: NOT_YOURS,
    refused: 404,
  },
  {
    viewer: 'an administrator who is the person',
    by: 'ann',
    roles: ['admin'],
    asked: vended,
    offers: FORMS,
  },
  {
    viewer: 'an administrator outside of the set',
    by: 'adm',
    roles: ['admin'],
    asked: askedOf,
    offers: [],
    says: NOT_YOURS,
    refused: 404,
  },
  {
    viewer: 'an administrator in the set',
    by: 'adm',
    roles: ['admin'],
    asked: async (tenant) => {
      world.members.add('adm');
      return askedOf(tenant);
    },
    offers: FORMS,
  },
  { viewer: 'a member of the set', by: 'bob', asked: askedOf, offers: FORMS },
  {
    viewer: 'a member of the set for whom nobody vouches',
    by: 'bob',
    asked: async (tenant) => {
      const id = await askedOf(tenant);
      world.people.set(...person('bob', { vouched: false }));
      return id;
    },
    offers: [],
    says: 'whom an administrator has vouched for',
    refused: 403,
  },
  {
    viewer: 'the person for whom the agent acts, in a set that excludes them',
    by: 'ann',
    asked: async (tenant) => {
      world.members.add('ann');
      return vended(tenant, { ...OF_SET, exclude_session_user: true });
    },
    offers: [],
    says: 'The agent acts for you',
    refused: 403,
  },
  {
    viewer: 'one who has given one of several approvals',
    by: 'bob',
    asked: onceApproved,
    offers: ['deny'],
    says: 'You have approved this already',
    refused: 409,
  },
  {
    viewer: 'another member, after one of several approvals',
    by: 'cid',
    asked: onceApproved,
    offers: FORMS,
  },
  {
    viewer: 'the deputy',
    by: 'bob',
    asked: async (tenant) => {
      const until = new Date(fixture.clock.now().getTime() + 86_400_000).toISOString();
      const named = await tenant.ann.put('/api/v1/ciba/deputy', { user_id: 'bob', until });
      expect(named.status).toBe(200);
      return vended(tenant);
    },
    offers: FORMS,
  },
  {
    viewer: 'the second addressee, before the escalation an administrator',
    by: 'adm',
    roles: ['admin'],
    asked: (tenant) =>
      vended(tenant, { escalate: { after_seconds: 60, approver: { user_id: 'adm' } } }),
    offers: [],
    says: NOT_YOURS,
    refused: 404,
  },
  {
    viewer: 'a member of the set of a request for access who is no administrator',
    by: 'bob',
    asked: async (tenant) => {
      world.members.add('adm');
      await fixture.agentAccess(tenant.id, { approver: SET, max_seconds: 604_800 });
      const body = {
        services: [{ service_name: 'payroll', fields: ['token'] }],
        duration_seconds: 3_600,
      };
      return (await tenant.bot.post('/api/v1/ciba/access-requests', body)).body.id;
    },
    offers: ['deny'],
    says: 'Only an administrator can give an agent access.',
    refused: 403,
  },
];

const tokenOf = ({ id: tenantId }: Tenant, { by: id, roles = ['member'] }: Case): string =>
  fixture.tokens.user({ tenantId, id, roles: [...roles] });
const formsIn = (page: string): readonly Form[] =>
  FORMS.filter((form) => page.includes(`name="form" value="${form}"`));
const decisionsIn = async (tenant: Tenant, id: string): Promise<readonly string[]> =>
  (await fixture.eventsOf(tenant.id)).flatMap(({ type, streamId }) =>
    streamId === `request-${id}` && /^Approval(Approved|Denied|Given)$/.test(type) ? [type] : [],
  );

describe('people 1 the page of a request', () => {
  it.each(CASES)('offers what its viewer can do: $viewer', async (of) => {
    const tenant = await fixture.people(`offers-${CASES.indexOf(of)}`);
    const id = await of.asked(tenant);
    const path = `/approve/${id}`;
    const token = tokenOf(tenant, of);
    const viewer = pageBrowser(fixture, token);
    const page = await viewer.get(path);
    expect(page.status).toBe(200);
    expect(formsIn(page.text)).toEqual(of.offers);
    if (of.says !== undefined) expect(page.text).toContain(of.says);
    for (const form of FORMS) {
      const alone = await viewer.get(`${path}?form=${form}`);
      expect(formsIn(alone.text).includes(form)).toBe(of.offers.includes(form));
    }
    const shown = await fixture.rest
      .as({ tenant: tenant.id, bearer: token })
      .get(`${REQUESTS}/${id}`);
    expect(shown.body.allowed_decisions).toEqual(of.offers);
    const before = await decisionsIn(tenant, id);
    for (const form of FORMS.filter((each) => !of.offers.includes(each))) {
      expect((await viewer.press(path, { form })).status).toBe(of.refused);
    }
    expect(await decisionsIn(tenant, id)).toEqual(before);
    const [first] = of.offers;
    if (first === undefined) return;
    expect((await viewer.press(path, { form: first })).status).toBe(303);
    expect(await decisionsIn(tenant, id)).not.toEqual(before);
  });

  it('says in German, too, that its viewer does not decide, and offers nothing once it is decided', async () => {
    const tenant = await fixture.people('offers-german');
    const id = await askedOf(tenant);
    const bearer = fixture.tokens.user({ tenantId: tenant.id, id: 'adm', roles: ['admin'] });
    const page = await pageBrowser(fixture, bearer, 'de').get(`/approve/${id}`);
    expect(page.text).toContain('Sie können diese Anfrage lesen');
    expect((await tenant.bob.post(`${REQUESTS}/${id}/approve`)).status).toBe(200);
    const end = await tenant.bob.get(`${REQUESTS}/${id}`);
    expect(end.body.allowed_decisions).toEqual([]);
    expect(end.body).not.toHaveProperty('approve_refusal');
  });

  it('tells an agent nothing of what persons may decide', async () => {
    const { bot } = await fixture.people('offers-agent');
    const { body } = await bot.post(REQUESTS, wanted());
    const seen = (await bot.get(`${REQUESTS}/${body.id}`)).body;
    expect(seen).toEqual(body);
    expect(seen).not.toHaveProperty('allowed_decisions');
  });
});
