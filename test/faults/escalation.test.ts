/** An escalation whose process is killed before it is recorded. */
import { processFixture, type RestDriver, testDatabase, untilTrue } from '@cardea/testing';
import { expect, it } from 'vitest';
import { type Instance, instance } from './instance.ts';

const fixture = processFixture();
const database = testDatabase();

const AFTER_S = 60;
const TEST_MS_MAX = 400_000;
const PASSWORD = 'a long password of them';
const FIELDS = [{ service_name: 'db', fields: ['password'] }];
const FIELD = { service_name: 'db', fields: ['password'] };
const VAULT = '/api/v1/vault';

type Answer = Awaited<ReturnType<RestDriver['post']>>;
// biome-ignore lint/suspicious/noExplicitAny: as in the REST driver, tests reach into bodies.
async function made(asked: Promise<Answer>): Promise<any> {
  const answer = await asked;
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
}

/** A vouched person with their password. */
async function personOf(cardea: Instance, name: string) {
  const credentials = await cardea.admin();
  const admin = cardea.rest.as(credentials);
  const account = { email: `${name}@example.com`, password: PASSWORD };
  const { id } = await made(
    admin.post('/api/v1/admin/users', { ...account, email_verified: true }),
  );
  await made(admin.patch(`/api/v1/admin/users/${id}`, { vouched: true }));
  const { tenant } = credentials;
  const signIn = async () => {
    const login = await made(cardea.rest.as({ tenant }).post('/api/v1/auth/login', account));
    return {
      token: login.access_token,
      rest: cardea.rest.as({ tenant, bearer: login.access_token }),
    };
  };
  return { id: String(id), signIn };
}

it('approval 27 the second addressee decides by the clock where the sweeper is killed before its event, and is told of the others afterwards', {
  timeout: TEST_MS_MAX,
}, async () => {
  const env: Record<string, string> = {
    DATABASE_URL: database.url,
    CARDEA_FAILPOINT: 'escalation.before_event=kill',
  };
  const cardea = await instance(fixture, env);
  const doomed = await cardea.start();
  const credentials = await cardea.admin();
  const admin = cardea.rest.as(credentials);
  const [ada, bob] = [await personOf(cardea, 'ada'), await personOf(cardea, 'bob')];
  const service = { name: 'db', credential_type: 'static', fields: [{ name: 'password' }] };
  await made(admin.post(`${VAULT}/services`, service));
  await made(admin.put(`${VAULT}/services/db/secrets`, { fields: { password: 'a value' } }));
  const policy = { name: 'ask', ...FIELD, fields: '*', agent_ids: '*', effect: 'require_approval' };
  const escalate = { after_seconds: AFTER_S, approver: { user_id: bob.id } };
  await made(admin.post(`${VAULT}/approval-policies`, { ...policy, escalate }));
  const bot = await made(admin.post('/api/v1/agents', { name: 'reporter', services: FIELDS }));
  const { key } = await made(admin.post(`/api/v1/agents/${bot.id}/keys`, { name: 'ci' }));
  const agent = cardea.rest.as({ tenant: credentials.tenant, bearer: key });
  const { token } = await ada.signIn();
  const asks = async () => {
    const body = { services: FIELDS, subject_token: token };
    const { data: session } = await made(agent.post('/api/v1/agent/sessions', body));
    const headers = { 'x-service-token': session.capability_token };
    const path = `/api/v1/agent/sessions/${session.id}/credentials`;
    const vend = (more: object = {}) => agent.post(path, { ...FIELD, ...more }, { headers });
    const { data } = await made(vend());
    return { id: String(data.approval_id), vend };
  };
  const [decided, waiting] = [await asks(), await asks()];
  await doomed.ended;

  delete env['CARDEA_FAILPOINT'];
  const next = await cardea.start();
  const { rest: asBob } = await bob.signIn();
  await made(asBob.post(`/api/v1/ciba/requests/${decided.id}/approve`));
  const granted = await made(decided.vend({ approval_id: decided.id }));
  expect(granted.data.fields).toEqual({ password: 'a value' });
  const { requests } = await made(asBob.get('/api/v1/ciba/pending'));
  expect(requests.map(({ id }: { id: string }) => id)).toContain(waiting.id);

  const again = cardea.rest.as(await cardea.admin());
  const rows = await untilTrue(
    async () => {
      const query = { type: 'ciba.escalated' };
      const { events } = (await again.get('/api/v1/audit/events', { query })).body;
      const mine = events.filter(
        ({ target_id }: { target_id: string }) => target_id === waiting.id,
      );
      return mine.length > 0 ? mine : undefined;
    },
    { what: 'the audit row of the escalation' },
  );
  expect(rows).toMatchObject([{ actor_type: 'system', details: { to: bob.id } }]);
  await untilTrue(
    async () => {
      const mailbox = await (await fetch(`${cardea.base}/dev/mailbox`)).text();
      return (
        mailbox.includes('bob@example.com') && mailbox.includes('Nobody has decided it so far')
      );
    },
    { what: 'the mail to bob' },
  );
  expect(await next.end('SIGTERM')).toBe(0);
});
