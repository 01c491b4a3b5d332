/** An agent receives the access of its approved request, as approval publishes it. */
import { randomUUID } from 'node:crypto';
import { untilTrue } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { agentsAndKeysFixture, type TestAgent } from './agents-and-keys-fixture.ts';

const { fixture, ann, admin, newAgent } = agentsAndKeysFixture();

const WANTED = [{ service_name: 'payroll', fields: ['token'] }];
const HOUR_S = 3_600;
const HOUR_MS = HOUR_S * 1_000;

type Approved = {
  readonly by?: string;
  readonly id?: string;
  readonly access?: object | null;
  readonly eventId?: string;
};

/**
 * Returns after identity has processed the approval. A later request of another agent, which identity extends, shows
 * this.
 */
async function approve(agent: TestAgent, of: Approved = {}): Promise<string> {
  const id = await publish(agent, of);
  const witness = await newAgent([]);
  await publish(witness);
  await untilTrue(async () => (await servicesOf(witness)).length > 0, { what: 'the event' });
  return id;
}

async function publish(agent: TestAgent, of: Approved = {}): Promise<string> {
  const { by = ann().userId, id = randomUUID(), eventId } = of;
  const access =
    of.access === undefined ? { services: WANTED, duration_seconds: HOUR_S } : of.access;
  const at = fixture().clock.now().toISOString();
  await fixture().publish({
    ...(eventId === undefined ? {} : { id: eventId }),
    source: 'approval',
    type: 'approval.approved',
    tenantId: ann().tenantId,
    streamId: 'request-one',
    data: {
      ...{ id, agent_id: agent.id, agent_name: 'bot', user_id: 'role:admin', set: 'role:admin' },
      ...{ action: 'grant_access', severity: 'high', ttl_seconds: 300, needed: 1, origin: 'agent' },
      ...{ created_at: at, expires_at: at, responded_by: by, responded_at: at, responders: [by] },
      ...(access === null ? {} : { access }),
    },
  });
  return id;
}
const servicesOf = async ({ id }: Pick<TestAgent, 'id'>) =>
  (await admin().get(`/api/v1/agents/${id}`)).body.services;
const begin = (agent: TestAgent, services: readonly object[] = WANTED, more: object = {}) =>
  agent.as.post('/api/v1/agent/sessions', { services, ...more });
const changes = async ({ id }: TestAgent) =>
  (await fixture().eventsSince(0n)).filter(
    ({ type, streamId }) => type === 'AgentChanged' && streamId === `agent-${id}`,
  ).length;

describe('access that an administrator approved', () => {
  it('approval 31 is the agent’s for the time that was approved, at each issue, and then gone', async () => {
    const agent = await newAgent();
    const before = await servicesOf(agent);
    expect((await begin(agent)).code).toBe('scope_not_granted');
    const approval_id = await approve(agent);
    const [lasting, entry] = await servicesOf(agent);
    expect([lasting]).toEqual(before);
    expect(entry).toMatchObject({ ...WANTED[0], approval_id });
    const leftMs = Date.parse(entry.until) - fixture().clock.now().getTime();
    expect(Math.abs(leftMs - HOUR_MS)).toBeLessThan(60_000);
    const session = await begin(agent, WANTED, { ttl_seconds: 2 * HOUR_S });
    expect(session.status).toBe(201);
    fixture().clock.move(HOUR_MS + 1_000);
    try {
      expect((await begin(agent)).code).toBe('scope_not_granted');
      const tokens = `/api/v1/agent/sessions/${session.body.data.id}/tokens`;
      expect((await agent.as.post(tokens)).code).toBe('scope_not_granted');
      const later = fixture().as(await fixture().signInAgain(ann()));
      const path = `/api/v1/agents/${agent.id}`;
      expect((await later.get(path)).body.services).toEqual(before);
      // The next change also removes the entry from the stored state.
      await later.patch(path, { description: 'of before' });
      const last = (await fixture().eventsSince(0n))
        .filter(({ streamId }) => streamId === `agent-${agent.id}`)
        .at(-1);
      expect(last?.data).toMatchObject({ services: before });
    } finally {
      fixture().clock.move(-HOUR_MS - 1_000);
    }
  });

  it('approval 31 is added once, however often the event comes', async () => {
    const agent = await newAgent([]);
    const eventId = randomUUID();
    const id = await publish(agent, { eventId });
    await publish(agent, { eventId, id });
    await approve(agent, { id });
    expect(await servicesOf(agent)).toHaveLength(1);
    expect(await changes(agent)).toBe(1);
  });

  it.each([
    ['a member', { roles: ['member'], vouched: true }],
    ['an administrator without a vouch', { roles: ['admin'], vouched: false }],
    ['a disabled administrator', { roles: ['admin'], vouched: true, status: 'disabled' }],
  ] as const)('approval 31 is not added where %s approved', async (_who, standing) => {
    const { userId } = await fixture().registerVerified(ann().tenantId);
    const path = `/api/v1/admin/users/${userId}`;
    const { roles, ...rest } = standing;
    expect((await admin().patch(path, { roles })).status).toBe(200);
    expect((await admin().patch(path, rest)).status).toBe(200);
    const agent = await newAgent([]);
    await approve(agent, { by: userId });
    expect(await servicesOf(agent)).toEqual([]);
    expect(await changes(agent)).toBe(0);
  });

  it('approval 31 is not added where the administrator was demoted before identity heard of it', async () => {
    const { userId } = await fixture().registerVerified(ann().tenantId);
    const path = `/api/v1/admin/users/${userId}`;
    expect((await admin().patch(path, { roles: ['admin'], vouched: true })).status).toBe(200);
    const agent = await newAgent([]);
    await approve(agent, { by: userId });
    expect(await servicesOf(agent)).toHaveLength(1);
    expect((await admin().patch(path, { roles: ['member'] })).status).toBe(200);
    const other = await newAgent([]);
    await approve(other, { by: userId });
    expect(await servicesOf(other)).toEqual([]);
  });

  it('approval 31 is not added to a suspended or deleted agent, nor by a person whom nobody knows', async () => {
    const agent = await newAgent([]);
    const path = `/api/v1/agents/${agent.id}`;
    await admin().patch(path, { status: 'suspended' });
    await approve(agent);
    await admin().patch(path, { status: 'active' });
    expect(await servicesOf(agent)).toEqual([]);
    const gone = await newAgent([]);
    await admin().delete(`/api/v1/agents/${gone.id}`);
    await approve(gone);
    expect(await changes(gone)).toBe(0);
    await approve(agent, { by: 'nobody' });
    expect(await servicesOf(agent)).toEqual([]);
  });

  it('approval 31 is not added while the tenant lets no agent ask, and for no longer than it allows', async () => {
    const agent = await newAgent([]);
    await fixture().setTenant(ann().tenantId, { agent_access: null });
    const off = await publish(agent);
    const isNoted = (line: string) => line.includes(off) && line.includes('access_requests_off');
    await untilTrue(() => fixture().lines.some(isNoted), { what: 'identity has heard of it' });
    await fixture().setTenant(ann().tenantId, { agent_access: { max_seconds: 600 } });
    await approve(agent);
    const [entry, ...others] = await servicesOf(agent);
    expect(others).toEqual([]);
    const leftMs = Date.parse(entry.until) - fixture().clock.now().getTime();
    expect(leftMs).toBeLessThanOrEqual(600_000);
    await fixture().setTenant(ann().tenantId, { agent_access: { max_seconds: 604_800 } });
  });

  it('approval 31 comes with access alone: a plain request of that name widens nothing', async () => {
    const agent = await newAgent([]);
    await approve(agent, { access: null });
    await approve(agent, {
      access: { services: [{ service_name: 'payroll', fields: ['*'] }], duration_seconds: 600 },
    });
    expect(await servicesOf(agent)).toEqual([]);
  });

  it('does not widen a delegation: for a person the agent still has what that person gave', async () => {
    const agent = await newAgent();
    const member = await fixture().register(ann().tenantId);
    const services = [{ service_name: 'warehouse', fields: ['username'] }];
    const granted = await fixture()
      .as(member)
      .post('/api/v1/me/delegations', { agent_id: agent.id, services });
    expect(granted.status).toBe(201);
    await approve(agent);
    const forMember = (wanted: readonly object[]) =>
      begin(agent, wanted, { user_id: member.userId });
    expect((await forMember(WANTED)).code).toBe('scope_not_granted');
    expect((await forMember(services)).status).toBe(201);
    expect((await begin(agent)).status).toBe(201);
  });
});

describe('an entry that an approval gave', () => {
  it('stays where an administrator sends it as it is shown, goes where it is left out, and is made by nobody', async () => {
    const agent = await newAgent();
    await approve(agent);
    const path = `/api/v1/agents/${agent.id}`;
    const shown = await servicesOf(agent);
    expect((await admin().patch(path, { services: shown })).body.services).toEqual(shown);
    const [lasting, given] = shown;
    const forged = [
      { ...given, until: '2100-01-01T00:00:00.000Z' },
      { ...given, fields: ['token', 'password'] },
      { ...given, approval_id: 'another' },
      { ...WANTED[0], until: given.until },
    ];
    for (const entry of forged) {
      expect(await admin().patch(path, { services: [lasting, entry] })).toMatchObject({
        status: 400,
        body: { error: { details: [{ field: 'services', rule: 'given' }] } },
      });
    }
    const made = await admin().post('/api/v1/agents', { name: 'forged', services: [given] });
    expect(made.status).toBe(400);
    expect((await admin().patch(path, { services: [lasting] })).body.services).toEqual([lasting]);
    expect((await begin(agent)).code).toBe('scope_not_granted');
  });
});
