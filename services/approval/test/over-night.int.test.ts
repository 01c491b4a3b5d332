/** Some requests of vends outlive the session that made them, and others do not. */
import { untilTrue } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { type ApprovalFixture, approvalOfFile, type Tenant } from './approval-fixture.ts';

const REQUESTS = '/api/v1/ciba/requests';
const DAY_MS = 86_400_000;
const fixture = approvalOfFile({ withoutSweeper: true });

const overNight = {
  ttl_seconds: 604_800,
  use_window_seconds: 604_800,
  outlives_session: true,
  session_user_id: 'bob',
};
const statusOf = async ({ admin }: Tenant, id: string) =>
  (await admin.get(`${REQUESTS}/${id}`)).body.status as string;
async function opened(tenant: Tenant, vend: Parameters<ApprovalFixture['open']>[1]) {
  const answer = await fixture.open(tenant.id, vend);
  expect(answer['outcome']).toBe('opened');
  return String(answer['id']);
}
const publish = (tenantId: string, type: string, streamId: string, data: object) =>
  fixture.publish({ source: 'identity', type, tenantId, streamId, data });
const endSession = (tenant: Tenant) =>
  publish(tenant.id, 'agent_session.ended', 'agent_session-s1', {
    id: 's1',
    agent_id: 'bot',
    user_id: 'bob',
    services: [],
    epoch: 1,
    expires_at: '2026-01-01T00:00:00.000Z',
    reason: 'ended',
    ended_at: '2026-01-01T00:00:00.000Z',
  });

describe('a request that may wait over night', () => {
  it('approval 29 outlives its session, is approved the next day and used once; others end with it', async () => {
    const tenant = await fixture.people('night');
    const night = await opened(tenant, { digest: 'night', ...overNight });
    // Opens a request as an earlier release did, with the same numbers except the week.
    const evening = await opened(tenant, { digest: 'evening' });
    await endSession(tenant);
    await untilTrue(async () => (await statusOf(tenant, evening)) === 'expired');
    expect(await statusOf(tenant, night)).toBe('pending');
    fixture.clock.move(DAY_MS);
    // Ann has signed in again.
    const bearer = fixture.tokens.user({ tenantId: tenant.id, id: 'ann' });
    const ann = fixture.rest.as({ tenant: tenant.id, bearer });
    expect((await ann.post(`${REQUESTS}/${night}/approve`)).status).toBe(200);
    fixture.clock.move(DAY_MS);
    const use = { tenant_id: tenant.id, agent_id: 'bot', digest: 'night' };
    const uses = await Promise.all(
      ['g1', 'g2'].map((grant_id) => fixture.consume(night, { ...use, grant_id })),
    );
    expect(uses.map(({ outcome }) => outcome).toSorted()).toEqual([
      'consumed',
      'consumed_by_other',
    ]);
  });

  it('approval 29 is joined by a later session of the same digest', async () => {
    const tenant = await fixture.people('joined');
    const night = await opened(tenant, { digest: 'night', ...overNight });
    await endSession(tenant);
    const again = { digest: 'night', ...overNight, session_id: 's2' };
    expect(await fixture.open(tenant.id, again)).toMatchObject({ outcome: 'joined', id: night });
  });

  it('approval 29 can be used for its window, and lapses after it', async () => {
    const tenant = await fixture.people('window');
    const night = await opened(tenant, { digest: 'night', ...overNight });
    expect((await tenant.ann.post(`${REQUESTS}/${night}/approve`)).status).toBe(200);
    fixture.clock.move(7 * DAY_MS + 1_000);
    const use = { tenant_id: tenant.id, agent_id: 'bot', digest: 'night', grant_id: 'g1' };
    expect((await fixture.consume(night, use))['outcome']).toBe('expired');
  });

  it('approval 29 ends with the person for whom the agent acts', async () => {
    const tenant = await fixture.people('leaver');
    const night = await opened(tenant, { digest: 'night', ...overNight });
    await publish(tenant.id, 'user.deleted', 'user-bob', {
      id: 'bob',
      deleted_at: '2026-01-01T00:00:00.000Z',
    });
    await untilTrue(async () => (await statusOf(tenant, night)) === 'expired');
  });

  it('approval 29 may be asked over REST for a week, and no longer', async () => {
    const { bot } = await fixture.people('week');
    const ask = async (ttl_seconds: number) =>
      (await bot.post(REQUESTS, { agent_id: 'bot', user_id: 'ann', action: 'a', ttl_seconds }))
        .status;
    expect([await ask(604_800), await ask(604_801)]).toEqual([201, 400]);
  });
});
