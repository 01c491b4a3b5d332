/** Agents wait for users, and webhooks and mails report the decision. */
import { metrics } from '@cardea/runtime';
import { untilTrue } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { approvalFixture, approvalOfFile, wanted } from './approval-fixture.ts';

const fixture = approvalOfFile({ withoutSweeper: true });

const REQUESTS = '/api/v1/ciba/requests';
/** Far fewer requests than can be answered in the second after which a poll reads again on its own. */
const REQUESTS_MEANWHILE_MAX = 20;

const untilPolled = (count: number) =>
  untilTrue(async () => (await metrics.longPollsOpen.get()).values[0]?.value === count, {
    what: `${count} polls are open`,
  });

describe('whoever waits for a person', () => {
  it('approval 8 hears of the decision within a quarter of a second', async () => {
    const { ann, bot } = await fixture.people('eight');
    const { body } = await bot.post(REQUESTS, wanted());
    const waiting = bot.get(`${REQUESTS}/${body.id}/poll`);
    let isAnswered = false;
    void waiting.finally(() => {
      isAnswered = true;
    });
    await untilPolled(1);
    await ann.post(`${REQUESTS}/${body.id}/approve`);
    // Requests are counted rather than timed, because a busy machine slows both.
    let meanwhile = 0;
    for (; !isAnswered; meanwhile += 1) await ann.get(`${REQUESTS}/${body.id}`);
    expect(meanwhile).toBeLessThan(REQUESTS_MEANWHILE_MAX);
    expect((await waiting).body.status).toBe('approved');
    expect((await bot.get(`${REQUESTS}/${body.id}/poll`)).body.status).toBe('approved');
  });

  it('what is published of a request says what the others may know, and no more', async () => {
    const { ann, bot, id: tenant } = await fixture.people('published');
    const { body } = await bot.post(REQUESTS, wanted({ reason: 'secret words' }));
    await ann.post(`${REQUESTS}/${body.id}/deny`);
    const { database: sql } = fixture.host.needsOf('approval');
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
    const other = await approvalFixture(fixture.settings.DATABASE_URL.reveal());
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
    await untilPolled(100);
    await other.stop();
    const answers = await Promise.all(polls.flat());
    expect(answers.map(({ status }) => status)).toEqual(Array(100).fill(200));
    expect(new Set(answers.map(({ body }) => body.status))).toEqual(new Set(['pending']));
  });
});
