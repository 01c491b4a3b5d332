/** Agents wait for people, and others hear of what they decided. */
import { testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApprovalRig, approvalRig, wanted } from './approval-rig.ts';

const database = testDatabase();
let rig: ApprovalRig;
beforeAll(async () => {
  rig = await approvalRig(database.url, { withoutSweeper: true });
});
afterAll(async () => {
  await rig?.stop();
});

const REQUESTS = '/api/v1/ciba/requests';

describe('whoever waits for a person', () => {
  it('approval 8 hears of the decision within a quarter of a second', async () => {
    const { ann, bot } = await rig.people('eight');
    const { body } = await bot.post(REQUESTS, wanted());
    const waiting = bot.get(`${REQUESTS}/${body.id}/poll`);
    const answeredAt = waiting.then(() => performance.now());
    await ann.get(`${REQUESTS}/${body.id}`); // by now the poll, sent earlier, is under way
    await ann.post(`${REQUESTS}/${body.id}/approve`);
    const decidedAt = performance.now();
    expect((await waiting).body.status).toBe('approved');
    expect((await answeredAt) - decidedAt).toBeLessThan(250);
    expect((await bot.get(`${REQUESTS}/${body.id}/poll`)).body.status).toBe('approved');
  });

  it('what is published of a request says what the others may know, and no more', async () => {
    const { ann, bot, id: tenant } = await rig.people('published');
    const { body } = await bot.post(REQUESTS, wanted({ reason: 'secret words' }));
    await ann.post(`${REQUESTS}/${body.id}/deny`);
    const { database: sql } = rig.host.needsOf('approval');
    const published = await untilTrue(async () => {
      const { rows } = await sql.system.query<{ value: string }>(
        `SELECT value::text FROM bus.records
         WHERE topic = 'cardea.approval.events.v1' AND value->>'tenantId' = $1`,
        [tenant],
      );
      const all = rows.map(({ value }) => value).join();
      return all.includes('approval.denied') ? all : undefined;
    });
    expect(published).toContain('approval.requested');
    expect(published).toContain('approval.denied');
    expect(published).not.toContain('secret words');
    expect(published).not.toContain('ann@example.com');
  });

  it('approval 10 is answered as things stand when the process stops', async () => {
    const other = await approvalRig(database.url);
    const tenant = { tenant: 'ten' };
    const users = Array.from({ length: 10 }, (_, at) =>
      other.rest.as({
        ...tenant,
        bearer: other.tokens.user({ tenantId: 'ten', id: `u${at}` }),
      }),
    );
    const polls = await Promise.all(
      users.map(async (user, at) => {
        const { body } = await user.post(REQUESTS, wanted({ user_id: `u${at}` }));
        return Array.from({ length: 10 }, () => user.get(`${REQUESTS}/${body.id}/poll`));
      }),
    );
    await untilTrue(async () => (await users[0]?.get(`${REQUESTS}/x/poll`))?.status === 404);
    await other.stop();
    const answers = await Promise.all(polls.flat());
    expect(answers.map(({ status }) => status)).toEqual(Array(100).fill(200));
    expect(new Set(answers.map(({ body }) => body.status))).toEqual(new Set(['pending']));
  });
});
