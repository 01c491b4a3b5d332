/** Requests that vault opens: joined, limited, in cool-down, muted. */
import { accept } from '@cardea/event-store';
import { untilTrue } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { queueIdOf, queues } from '../src/requests/queues/queue.ts';
import { approvalOfFile, wanted } from './approval-fixture.ts';

const fixture = approvalOfFile({ withoutSweeper: true });

const REQUESTS = '/api/v1/ciba/requests';
const MINUTE_MS = 60_000;
const countOf = async (tenantId: string, type: string) =>
  (await fixture.eventsOf(tenantId)).filter((event) => event.type === type).length;

describe('a vend that waits for a person', () => {
  it('approval 12 opens one request, however many vends of one digest come at once', async () => {
    const { ann, id: tenant } = await fixture.people('twelve');
    const all = await Promise.all(
      Array.from({ length: 50 }, () => fixture.open(tenant, { digest: 'same' })),
    );
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
    expect(new Set(all.map(({ binding_message: message }) => message)).size).toBe(1);
    expect(all.filter(({ outcome }) => outcome === 'opened')).toHaveLength(1);
    expect(await countOf(tenant, 'ApprovalRequested')).toBe(1);
    expect((await ann.get('/api/v1/ciba/pending')).body.requests).toHaveLength(1);
    await untilTrue(async () => (await countOf(tenant, 'NotificationSent')) === 1);
  });

  it('approval 12 makes the request under the id that a killed vend had queued', async () => {
    const { id: tenant } = await fixture.people('twelve-b');
    const { streams, systemCommand, clock } = fixture.host.needsOf('approval');
    const id = queueIdOf({ tenantId: tenant, agentId: 'bot', userId: 'ann' });
    const until = new Date(clock.now().getTime() + MINUTE_MS).toISOString();
    const entry = { request_id: 'orphan', digest: 'd', resource: 'github', until };
    await streams.decideOn(queues, id, systemCommand(tenant, 'killed', tenant), () =>
      accept({ type: 'QueueChanged', data: { open: [entry], denials: [], muted_until: null } }),
    );
    expect(await fixture.open(tenant, { digest: 'd' })).toMatchObject({
      outcome: 'opened',
      id: 'orphan',
    });
    expect(await fixture.open(tenant, { digest: 'd' })).toMatchObject({
      outcome: 'joined',
      id: 'orphan',
    });
  });

  it('approval 14 gives the agent that asks for it the request of the vend', async () => {
    const { ann, bot, id: tenant } = await fixture.people('fourteen');
    const opened = await fixture.open(tenant, { digest: 'd', purpose: 'nightly\u202E build' });
    const asked = wanted({ action: 'credential_access', resource: 'github', reason: 'please' });
    const joined = await bot.post(REQUESTS, asked);
    expect(joined.status).toBe(201);
    expect(joined.body).toMatchObject({
      id: opened['id'],
      severity: 'high',
      reason: 'Release token of github; for up to 15 minutes; the agent says: nightly build',
      binding: { session_id: 's1', service_name: 'github', fields: ['token'], consumed: false },
    });
    const id = String(opened['id']);
    await ann.post(`${REQUESTS}/${id}/approve`);
    const use = { tenant_id: tenant, agent_id: 'bot', digest: 'd', grant_id: 'g' };
    const consumed = await fixture.consume(id, use);
    expect(consumed).toMatchObject({ outcome: 'consumed', again: false });
    const seen = await bot.get(`${REQUESTS}/${id}`);
    expect(seen.body.binding).toMatchObject({ consumed: true, use_before: consumed['use_before'] });
    const own = await bot.post(REQUESTS, wanted({ action: 'credential_access' }));
    await ann.post(`${REQUESTS}/${own.body.id}/approve`);
    expect((await fixture.consume(own.body.id, use)).outcome).toBe('mismatch');
  });

  it('approval 15 cools down after a denial, and the third within an hour mutes the agent', async () => {
    const { id: tenant } = await fixture.people('fifteen');
    /** The token is new, because the clock has moved on by a token's lifetime. */
    const ann = () =>
      fixture.rest.as({ tenant, bearer: fixture.tokens.user({ tenantId: tenant, id: 'ann' }) });
    const denied = async (digest: string) => {
      const opened = await fixture.open(tenant, { digest });
      expect(opened.outcome).toBe('opened');
      expect((await ann().post(`${REQUESTS}/${opened['id']}/deny`)).status).toBe(200);
    };
    await denied('a');
    expect((await fixture.open(tenant, { digest: 'a' })).outcome).toBe('cooling_down');
    expect(await countOf(tenant, 'ApprovalRequested')).toBe(1);
    fixture.clock.move(15 * MINUTE_MS);
    await denied('a');
    await denied('b');
    await untilTrue(async () => (await fixture.open(tenant, { digest: 'c' })).outcome === 'muted');
    const bot = { id: 'bot', sessionId: 's1', userId: 'ann' };
    const bearer = fixture.tokens.agent({ tenantId: tenant, ...bot });
    const asked = await fixture.rest.as({ tenant, bearer }).post(REQUESTS, wanted());
    expect(`${asked.status} ${asked.code}`).toBe('403 agent_muted');
    expect((await ann().post(REQUESTS, wanted())).status).toBe(201);
    fixture.clock.move(61 * MINUTE_MS);
    expect((await fixture.open(tenant, { digest: 'c2' })).outcome).toBe('opened');
  });

  it('approval 15 is muted at once where the user says so with the denial', async () => {
    const { ann, bot } = await fixture.people('fifteen-b');
    const { body } = await bot.post(REQUESTS, wanted());
    const answer = await ann.post(`${REQUESTS}/${body.id}/deny`, {
      reason: 'not now',
      mute_agent_minutes: 5,
    });
    expect(answer.body).toEqual({ status: 'denied' });
    expect((await bot.post(REQUESTS, wanted())).code).toBe('agent_muted');
    fixture.clock.move(5 * MINUTE_MS);
    expect((await bot.post(REQUESTS, wanted())).status).toBe(201);
  });

  it('approval 16 is the sixth that finds no room, while the user still asks', async () => {
    const { ann, bot, id: tenant } = await fixture.people('sixteen');
    for (let count = 0; count < 5; count++) {
      expect((await bot.post(REQUESTS, wanted({ ttl_seconds: 60 + count }))).status).toBe(201);
    }
    const sixth = await bot.post(REQUESTS, wanted());
    expect(`${sixth.status} ${sixth.code}`).toBe('429 approval_rate_limited');
    const seconds = Number(sixth.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(40);
    expect(seconds).toBeLessThanOrEqual(60);
    expect((await fixture.open(tenant, { digest: 'd' })).outcome).toBe('rate_limited');
    expect((await ann.post(REQUESTS, wanted())).status).toBe(201);
    const { body } = await ann.get('/api/v1/ciba/pending');
    const theirs = body.requests.find(
      ({ expires_at, created_at }: { [name: string]: string }) =>
        Date.parse(String(expires_at)) - Date.parse(String(created_at)) === 60_000,
    );
    await ann.post(`${REQUESTS}/${theirs.id}/approve`);
    expect((await bot.post(REQUESTS, wanted())).status).toBe(201);
  });

  it('approval 13 is not used behind its window', async () => {
    const { ann, id: tenant } = await fixture.people('window');
    const opened = await fixture.open(tenant, { digest: 'd', use_window_seconds: 60 });
    await ann.post(`${REQUESTS}/${opened['id']}/approve`);
    fixture.clock.move(61_000);
    const use = { tenant_id: tenant, agent_id: 'bot', digest: 'd', grant_id: 'g' };
    expect((await fixture.consume(String(opened['id']), use)).outcome).toBe('expired');
  });

  it('approval 18 tells its state on the poll route, to a key of its agent too', async () => {
    const { ann, id: tenant } = await fixture.people('eighteen');
    const opened = await fixture.open(tenant, { digest: 'd' });
    const path = `/api/v1/ciba/token/${opened['id']}`;
    const { key } = fixture.tokens.agentKey({ tenantId: tenant, id: 'bot' });
    const agent = fixture.rest.as({ tenant, bearer: key });
    const first = await agent.get(path);
    expect(first.body.data).toEqual({
      approval_id: opened['id'],
      status: 'pending',
      expires_at: expect.any(String),
      interval: 5,
      use_before: null,
    });
    const held = agent.get(path, { query: { wait: 25 } });
    await ann.post(`${REQUESTS}/${opened['id']}/approve`);
    const { data } = (await held).body;
    expect([data.status, typeof data.use_before]).toEqual(['approved', 'string']);
    const burst = await Promise.all(Array.from({ length: 20 }, () => agent.get(path)));
    const slow = burst.filter(({ code }) => code === 'slow_down');
    // Twelve are allowed at once, of which two were used before. After that one is allowed every two and a half
    // seconds.
    expect(slow.length).toBeGreaterThanOrEqual(8);
    expect(slow.length).toBeLessThanOrEqual(10);
    expect(slow[0]?.headers.get('retry-after')).toBe('5');
    const other = fixture.tokens.agentKey({ tenantId: tenant, id: 'another' });
    const stranger = fixture.rest.as({ tenant, bearer: other.key });
    expect((await stranger.get(path)).code).toBe('request_not_found');
  });
});
