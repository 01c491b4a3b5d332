/**
 * Requests to a set of approvers while authz, a separate process, is stopped, frozen and back. The short form, in which
 * a peer does not respond, is `services/approval/test/sets.int.test.ts`.
 */
import { type RestDriver, testForm, untilTrue } from '@cardea/testing';
import { Client } from 'pg';
import { expect, it } from 'vitest';
import { type Company, company, testCluster } from '../cluster-fixture.ts';

const REQUESTS = '/api/v1/ciba/requests';
const SET = 'team:payments#member';
const TEST_MS_MAX = 300_000;
/**
 * Refusals of known callers are recorded for the audit log, and the outcomes of earlier mails may still be recorded.
 * Nothing else is written.
 */
const BESIDES = ['ActionDenied', 'NotificationSent', 'NotificationFailed'];

const processes = testCluster({ replicas: 1 });

/** The number of events in the log of approval. Nothing but this test writes to it. */
async function written(): Promise<number> {
  const client = new Client({ connectionString: processes.cluster.addresses().postgres });
  await client.connect();
  const { rows } = await client
    .query<{ n: number }>(
      `SELECT count(*)::int AS n FROM eventstore.events
       WHERE stream_id ~ '^(request|queue|guesses)-' AND NOT type = ANY($1)`,
      [BESIDES],
    )
    .finally(() => client.end());
  return rows[0]?.n ?? 0;
}

type Told = { readonly status: number; readonly code?: string | undefined };
const told = ({ status, code }: Told): string => `${status} ${code ?? ''}`.trim();

/** A member who has the relation, and a request of an administrator to everyone who has it. */
async function holderOf(rest: RestDriver, admin: Company) {
  const by = rest.as(admin);
  const login = { email: 'holder@example.com', password: 'a password for the tests' };
  const made = await by.post('/api/v1/admin/users', { ...login, email_verified: true });
  expect(made.status, made.text).toBe(201);
  const agent = await by.post('/api/v1/agents', { name: 'porter' });
  expect(agent.status, agent.text).toBe(201);
  const member = { user_type: 'user', user_id: made.body.id, relation: 'member' };
  const tuple = { ...member, object_type: 'team', object_id: 'payments' };
  expect((await by.post('/api/v1/fga/tuples', tuple)).status).toBe(201);
  const { tenant } = admin;
  const entered = await rest.post('/api/v1/auth/login', login, { tenant });
  const ask = { agent_id: agent.body.id, user_id: SET, action: 'write_data', ttl_seconds: 3_600 };
  return { holder: { bearer: entered.body.access_token as string, tenant }, ask };
}

it.runIf(testForm.long)(
  'approval 25 a request to a set is 503 while authz is frozen or gone, nothing is written, and then it is decided',
  {
    timeout: TEST_MS_MAX,
  },
  async () => {
    const admin = await company(processes.rest);
    const { holder, ask } = await holderOf(processes.rest, admin);
    // The request does not go through the gateway, which would give up on its own.
    const approval = processes.at('approval', 1);
    const [asking, deciding] = [approval.as(admin), approval.as(holder)];
    const made = await untilTrue(async () => {
      const answer = await asking.post(REQUESTS, ask);
      return answer.status === 201 ? answer : undefined;
    });
    const path = `${REQUESTS}/${made.body.id}`;
    expect(told(await deciding.get(path))).toBe('200');
    const before = await written();
    expect(before).toBeGreaterThan(0);

    const expectUnavailable = async (): Promise<void> => {
      const answers = await Promise.all([
        asking.post(REQUESTS, ask),
        deciding.get('/api/v1/ciba/pending'),
        deciding.get(path),
        deciding.post(`${path}/approve`),
        deciding.post(`${path}/deny`),
      ]);
      expect(answers.map(told)).toEqual(answers.map(() => '503 temporarily_unavailable'));
      expect(await written()).toBe(before);
    };
    const authz = processes.replica('authz', 1);
    authz.signal('SIGSTOP');
    try {
      // The server accepts connections and never answers, so only approval itself ends these requests.
      await expectUnavailable();
    } finally {
      authz.signal('SIGCONT');
    }
    expect(told(await deciding.get(path))).toBe('200');
    expect(await authz.end('SIGTERM')).toBe(0);
    await expectUnavailable();
    await authz.start();
    expect(told(await deciding.post(`${path}/approve`))).toBe('200');
    expect(await written()).toBeGreaterThan(before);
  },
);
