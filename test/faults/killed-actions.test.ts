/** The use of an approved action whose process is killed after the use was written and before it was answered. */
import { processFixture, testDatabase, untilTrue } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { instance } from './instance.ts';

const fixture = processFixture();
const database = testDatabase();
const REQUESTS = '/api/v1/ciba/requests';

describe('an agent whose use of an approval was not answered', () => {
  it('gets its answer under the same key, and the action once [approval 30]', async () => {
    const env: Record<string, string> = {
      DATABASE_URL: database.url,
      CARDEA_FAILPOINT: 'consume.before_answer=kill',
    };
    const cardea = await instance(fixture, env);
    const doomed = await cardea.start();
    const admin = cardea.rest.as(await cardea.admin());
    const { tenant } = await cardea.admin();
    const me = (await admin.get('/api/v1/auth/me')).body.user.id;
    const agent = (await admin.post('/api/v1/agents', { name: 'payer', services: [] })).body.id;
    const { key } = (await admin.post(`/api/v1/agents/${agent}/keys`, { name: 'ci' })).body;
    const details = { to: 'Ada', cents: 1_000 };
    const body = { agent_id: agent, user_id: me, action: 'pay', details };
    const made = await admin.post(REQUESTS, body);
    expect(made.status).toBe(201);
    const { id } = made.body;
    expect((await admin.post(`${REQUESTS}/${id}/approve`)).status).toBe(200);
    const use = (idempotencyKey: string) =>
      cardea.rest
        .as({ bearer: key, tenant })
        .post(
          `${REQUESTS}/${id}/consume`,
          { details },
          { headers: { 'Idempotency-Key': idempotencyKey } },
        );
    await expect(use('first')).rejects.toThrow();
    await doomed.ended;

    delete env['CARDEA_FAILPOINT'];
    const next = await cardea.start();
    const again = await use('first');
    expect([again.status, again.body]).toEqual([
      200,
      { status: 'consumed', responded_by: me, responders: [me], comment: null },
    ]);
    const other = await use('second');
    expect([other.status, other.code]).toEqual([409, 'already_consumed']);
    const root = cardea.rest.as(await cardea.admin());
    const rows = await untilTrue(async () => {
      const { events } = (
        await root.get('/api/v1/audit/events', { query: { type: 'ciba.consumed' } })
      ).body;
      return events.length > 0 ? events : undefined;
    });
    expect(rows).toMatchObject([{ actor_type: 'agent', actor_id: agent, target_id: id }]);
    expect(await next.end('SIGTERM')).toBe(0);
  });
});
