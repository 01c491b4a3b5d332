/** The process is killed after the approval of an agent's request for access, before the agent gets the access. */
import { processFixture, testDatabase, untilTrue } from '@cardea/testing';
import { expect, it } from 'vitest';
import { instance } from './instance.ts';

const fixture = processFixture();
const database = testDatabase();

const WANTED = [{ service_name: 'warehouse', fields: ['password'] }];

it('approval 31 an agent whose approved access was not added when the process was killed gets it once, after the restart', async () => {
  const env: Record<string, string> = {
    DATABASE_URL: database.url,
    CARDEA_FAILPOINT: 'access.before_widen=kill',
  };
  const cardea = await instance(fixture, env);
  const doomed = await cardea.start();
  const { bearer, tenant } = await cardea.admin();
  const admin = cardea.rest.as({ bearer, tenant });
  const agent = (await admin.post('/api/v1/agents', { name: 'bot' })).body;
  const { key } = (await admin.post(`/api/v1/agents/${agent.id}/keys`, { name: 'first' })).body;
  const own = cardea.rest.as({ bearer: key, tenant });
  const asked = await own.post('/api/v1/ciba/access-requests', {
    services: WANTED,
    duration_seconds: 3_600,
  });
  expect(asked.status, asked.text).toBe(201);
  // The process may be killed before the answer is sent.
  await admin.post(`/api/v1/ciba/requests/${asked.body.id}/approve`).catch(() => undefined);
  await doomed.ended;

  delete env['CARDEA_FAILPOINT'];
  const next = await cardea.start();
  const later = cardea.rest.as(await cardea.admin());
  const shown = async () => (await later.get(`/api/v1/agents/${agent.id}`)).body.services;
  await untilTrue(async () => (await shown()).length > 0, { what: 'the agent has its access' });
  const [entry, ...others] = await shown();
  expect(others).toEqual([]);
  expect(entry).toMatchObject({ ...WANTED[0], approval_id: asked.body.id });
  const { events } = (await later.get('/api/v1/audit/events', { query: { type: 'agent.updated' } }))
    .body;
  expect(events.filter((row: { target_id: string }) => row.target_id === agent.id)).toHaveLength(1);
  const session = await own.post('/api/v1/agent/sessions', { services: WANTED });
  expect(session.status, session.text).toBe(201);
  expect(await next.end('SIGTERM')).toBe(0);
});
