/** Agents request access that they lack, and administrators of the set that the tenant names decide. */
import { pageCookies } from '@cardea/pages';
import { untilTrue } from '@cardea/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  type AgentAccess,
  type ApprovalFixture,
  approvalOfFile,
  wanted,
} from './approval-fixture.ts';
import { person, SET, setWorld } from './set-world.ts';

const REQUESTS = '/api/v1/ciba/requests';
const ACCESS = '/api/v1/ciba/access-requests';
const world = setWorld();
const fixture = approvalOfFile({ peers: world.peers });
beforeEach(() => {
  world.people.clear();
  world.members.clear();
  for (const [id, one] of [
    person('ann'),
    person('bob'),
    person('adm', { roles: ['member', 'admin'] }),
  ]) {
    world.people.set(id, one);
  }
});

const asked = (more: object = {}) => ({
  services: [{ service_name: 'payroll', fields: ['token', 'account'] }],
  duration_seconds: 3_600,
  ...more,
});
const told = ({ status, code }: { status: number; code?: string | undefined }) =>
  `${status} ${code ?? ''}`.trim();

async function tenantOf(name: string, access?: AgentAccess) {
  const people = await fixture.people(name);
  const { tokens, rest } = fixture;
  const as = (bearer: string) => rest.as({ tenant: name, bearer });
  const set = (agent_access: AgentAccess) => fixture.agentAccess(name, agent_access);
  if (access !== undefined) await set(access);
  const key = as(tokens.agentKey({ tenantId: name, id: 'bot' }).key);
  const ask = async (more: object = {}): Promise<string> => {
    const made = await key.post(ACCESS, asked(more));
    expect(told(made), made.text).toBe('201');
    return made.body.id;
  };
  const signedIn = (id: string, ageSeconds: number, roles: readonly string[] = ['admin']) => {
    const auth_time = Math.floor(fixture.clock.now().getTime() / 1_000) - ageSeconds;
    return as(tokens.user({ tenantId: name, id, roles: [...roles], claims: { auth_time } }));
  };
  return { ...people, key, set, ask, signedIn, adm: signedIn('adm', 0) };
}
const approve = (by: ApprovalFixture['rest'], id: string) => by.post(`${REQUESTS}/${id}/approve`);
const approvedOf = async (id: string) => {
  const { rows } = await fixture.shared.database.asSystem((sql) =>
    sql.query<{ data: { access?: object } }>(
      `SELECT value -> 'data' AS data FROM bus.records
       WHERE topic = 'cardea.approval.events.v1' AND value ->> 'type' = 'approval.approved'
         AND value -> 'data' ->> 'id' = $1`,
      [id],
    ),
  );
  return rows[0]?.data;
};

describe('a request for access', () => {
  it('approval 31 names services, fields and time, and is approved by an administrator, which identity hears', async () => {
    const { key, bot, adm, ask } = await tenantOf('shape');
    const services = [
      { service_name: 'payroll', fields: ['token'] },
      { service_name: 'mail', fields: ['password'] },
      { service_name: 'payroll', fields: ['account', 'token'] },
    ];
    const made = await bot.post(ACCESS, asked({ services, reason: 'the monthly run' }));
    expect(told(made)).toBe('201');
    const access = {
      services: [
        { service_name: 'payroll', fields: ['token', 'account'] },
        { service_name: 'mail', fields: ['password'] },
      ],
      duration_seconds: 3_600,
    };
    expect(made.body).toMatchObject({
      ...{ action: 'grant_access', resource: 'payroll, mail', severity: 'high', origin: 'agent' },
      ...{ user_id: 'role:admin', approver: { role: 'admin' }, status: 'pending', access },
      ...{ reason: 'the monthly run', approvals: { given: 0, needed: 1 } },
    });
    const { id } = made.body;
    expect((await adm.get('/api/v1/ciba/pending')).body.requests).toEqual([made.body]);
    expect((await key.get(`/api/v1/ciba/token/${id}`)).body.data.status).toBe('pending');
    expect(told(await approve(adm, id))).toBe('200');
    expect((await key.get(`/api/v1/ciba/token/${id}`)).body.data.status).toBe('approved');
    const published = await untilTrue(() => approvedOf(id));
    expect(published).toMatchObject({ access, responded_by: 'adm', set: 'role:admin' });
    const listed = (await adm.get(REQUESTS)).body.requests;
    expect(listed).toEqual([(await bot.get(`${REQUESTS}/${id}`)).body]);
    expect(listed[0]).toMatchObject({ access, status: 'approved' });
    expect(await ask()).not.toBe(id);
  });

  it('approval 31 is approved by no member of the set that is asked, who may deny it', async () => {
    const { ask, ann, bob, signedIn } = await tenantOf('members', {
      approver: SET,
      max_seconds: 3_600,
    });
    world.members.add('bob').add('ann').add('adm');
    const id = await ask();
    for (const by of [bob, signedIn('bob', 0, ['admin'])]) {
      expect(told(await approve(by, id))).toBe('403 approver_not_admin');
    }
    expect(told(await approve(signedIn('adm', 0), id))).toBe('200');
    const denied = await ask();
    expect(told(await ann.post(`${REQUESTS}/${denied}/deny`))).toBe('200');
  });

  it('approval 31 is approved by no administrator who was demoted, is not vouched for or stands in no such set', async () => {
    const { ask, adm, signedIn } = await tenantOf('demoted');
    const id = await ask();
    world.people.set(...person('adm', { roles: ['member'] }));
    expect(told(await approve(adm, id))).toBe('404 request_not_found');
    world.people.set(...person('adm', { roles: ['admin'], vouched: false }));
    expect(told(await approve(adm, id))).toBe('403 approver_not_vouched');
    world.people.set(...person('adm', { roles: ['admin'] }));
    const other = await tenantOf('elsewhere', { approver: SET, max_seconds: 3_600 });
    world.members.add('bob');
    world.people.set(...person('bob', { roles: ['admin'] }));
    const theirs = await other.ask();
    expect(told(await approve(other.adm, theirs))).toBe('404 request_not_found');
    expect(told(await approve(other.signedIn('bob', 0), theirs))).toBe('200');
    expect(told(await approve(signedIn('adm', 0), id))).toBe('200');
  });

  it('approval 31 takes a sign-in of the last ten minutes to be approved, and none to be denied', async () => {
    const { ask, signedIn } = await tenantOf('stale');
    const id = await ask();
    const stale = await approve(signedIn('adm', 601), id);
    expect(told(stale)).toBe('401 step_up_required');
    expect(stale.headers.get('www-authenticate')).toContain('max_age="600"');
    expect(told(await signedIn('adm', 601).post(`${REQUESTS}/${id}/deny`))).toBe('200');
  });

  it('approval 31 is decided by no agent, and made by agents alone', async () => {
    const { ask, bot, key, admin, ann } = await tenantOf('agents');
    const id = await ask();
    for (const agent of [bot, key]) {
      expect(told(await approve(agent, id))).toBe('401 user_session_required');
    }
    for (const user of [admin, ann]) {
      expect((await user.post(ACCESS, asked())).status).toBe(403);
    }
  });

  it('approval 31 is refused where the tenant lets no agent ask, or for so long', async () => {
    const { set, key, ask } = await tenantOf('off', null);
    expect(told(await key.post(ACCESS, asked()))).toBe('403 access_requests_off');
    await set({ approver: 'role:admin', max_seconds: 600 });
    expect(await key.post(ACCESS, asked({ duration_seconds: 601 }))).toMatchObject({
      status: 400,
      body: { error: { details: [{ field: 'duration_seconds', rule: 'setting' }] } },
    });
    await ask({ duration_seconds: 600 });
  });

  it('approval 31 is refused where nobody could approve it, and where no field is named', async () => {
    const { key } = await tenantOf('nobody', { approver: SET, max_seconds: 3_600 });
    world.members.add('bob');
    const refused = await key.post(ACCESS, asked());
    expect(told(refused)).toBe('403 no_approver');
    const star = [{ service_name: 'payroll', fields: ['*'] }];
    for (const services of [[], star, [{ service_name: 'payroll', fields: [] }]]) {
      expect(told(await key.post(ACCESS, asked({ services })))).toBe('400 invalid_request');
    }
    expect(told(await key.post(ACCESS, asked({ reason: '\u200b' })))).toBe('400 invalid_request');
  });

  it('approval 31 is made once under one Idempotency-Key, and five of an agent wait at most', async () => {
    const { key } = await tenantOf('often');
    const headers = { 'idempotency-key': 'once' };
    const first = await key.post(ACCESS, asked(), { headers });
    expect((await key.post(ACCESS, asked(), { headers })).body.id).toBe(first.body.id);
    const other = await key.post(ACCESS, asked({ duration_seconds: 600 }), { headers });
    expect(told(other)).toBe('422 idempotency_key_reused');
    for (let at = 0; at < 4; at += 1) expect(told(await key.post(ACCESS, asked()))).toBe('201');
    expect(told(await key.post(ACCESS, asked()))).toBe('429 approval_rate_limited');
  });

  it('approval 31 is no other: a plain request of that name carries no access', async () => {
    const { admin, ann, bot } = await tenantOf('plain');
    const made = await bot.post(REQUESTS, wanted({ action: 'grant_access', resource: 'payroll' }));
    expect(told(made)).toBe('201');
    expect(made.body.access).toBeUndefined();
    expect(told(await approve(ann, made.body.id))).toBe('200');
    const published = await untilTrue(() => approvedOf(made.body.id));
    expect(published).not.toHaveProperty('access');
    expect((await admin.get(`${REQUESTS}/${made.body.id}`)).body.access).toBeUndefined();
  });
});

describe('the page of a request for access', () => {
  it('approval 31 lists each service with each field and says for how long, in English and German', async () => {
    const { ask } = await tenantOf('page');
    const services = [
      { service_name: 'payroll', fields: ['token', 'account'] },
      { service_name: 'mail', fields: ['password'] },
    ];
    const id = await ask({ services, duration_seconds: 3_600, reason: '<b>soon</b>' });
    const short = await ask({ duration_seconds: 300 });
    const { pageKeys } = fixture.host.needsOf('approval');
    const cookies = pageCookies(pageKeys, fixture.settings);
    const token = fixture.tokens.user({ tenantId: 'page', id: 'adm', roles: ['admin'] });
    const cookie = cookies.written(cookies.begun(token)).split(';')[0] ?? '';
    const page = async (of: string, language: string) => {
      const headers = { accept: 'text/html', 'accept-language': language, cookie };
      return (await fetch(`${fixture.baseUrl}/approve/${of}`, { headers })).text();
    };
    const english = await page(id, 'en');
    for (const text of [
      ...['Deploy Bot asks for access', 'Fields of payroll', 'Fields of mail'],
      ...['<code>token</code>', '<code>account</code>', '<code>password</code>'],
      ...['1 hour', 'the agent may use these fields for 1 hour', '&lt;b&gt;soon&lt;/b&gt;'],
    ]) {
      expect(english).toContain(text);
    }
    expect(english).not.toContain('releases no secret');
    const german = await page(short, 'de');
    for (const text of ['Deploy Bot bittet um Zugriff', 'Felder von payroll', '5 Minuten']) {
      expect(german).toContain(text);
    }
  });
});
