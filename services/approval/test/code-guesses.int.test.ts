/** Binding codes have four digits. A person who guesses at them is blocked for growing times and notified by mail. */
import type { Mail } from '@cardea/mail';
import { testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ApprovalFixture,
  approvalFixture,
  noticesCounted,
  type Tenant,
  userCreated,
} from './approval-fixture.ts';

const database = testDatabase();
const mails: Mail[] = [];
/** Two replicas. The mailer of the first one uses that replica's clock while it is the leader. */
let both: readonly [ApprovalFixture, ApprovalFixture];
beforeAll(async () => {
  const mail = { send: async (sent: Mail) => void mails.push(sent), close: () => {} };
  const start = () => approvalFixture(database.url, { mail, withoutSweeper: true });
  both = [await start(), await start()];
});
afterAll(async () => {
  for (const fixture of both ?? []) await fixture.stop();
});

const REQUESTS = '/api/v1/ciba/requests';
const GUESSES = 3;
/** More requests than wrong guesses need until codes are blocked. */
const REQUESTS_MAX = 10;
const BLOCKED_SUBJECT = {
  en: 'Approving by code is blocked for a while',
  de: 'Freigeben per Code vorübergehend gesperrt',
};

const userOf = (tenant: string): string => `approver-of-${tenant}`;

/** Creates a user at both replicas, in a tenant whose requests are sent over these channels. */
async function approver(name: string, channels: readonly string[], language = 'en') {
  const [first, second] = both;
  const { id } = await first.people(name);
  const user = userOf(id);
  await first.publish(userCreated(id, user));
  await first.publish({
    source: 'identity',
    type: 'tenant.updated',
    tenantId: id,
    streamId: `tenant-${id}`,
    data: {
      ...{ id, organization_id: 'org', name: id, slug: id, display_name: id, language },
      ...{ environment: 'production', approval_channels: channels, changed: ['settings'] },
      created_at: '2026-01-01T00:00:00.000Z',
    },
  });
  const { database: sql } = first.host.needsOf('approval');
  await untilTrue(async () => {
    const { rows } = await sql.system.query<{ channels: readonly string[] }>(
      `SELECT channels FROM approval.tenants t JOIN approval.users u USING (tenant_id)
       WHERE t.tenant_id = $1 AND u.user_id = $2`,
      [id, user],
    );
    return rows[0]?.channels.join() === channels.join();
  });
  const at = ({ rest, tokens }: ApprovalFixture) =>
    rest.as({ tenant: id, bearer: tokens.user({ tenantId: id, id: user }) });
  return { id, approvers: [at(first), at(second)] as const };
}

let made = 0;
type Rest = Tenant['ann'];

/** Opens a request, and guesses at its code as often as it allows. */
async function guessAll(tenant: string, approvers: readonly [Rest, Rest]) {
  made += 1;
  // Three denials would mute one agent for an hour, so each request has a new agent.
  const opened = await both[0].open(tenant, {
    ...{ digest: `guessing ${made}`, number_match: true, agent_id: `bot ${made}` },
    user_id: userOf(tenant),
  });
  const path = `${REQUESTS}/${opened['id']}/approve`;
  const seen: { readonly code: string | undefined; readonly after: string | null }[] = [];
  for (let guess = 0; guess < GUESSES; guess += 1) {
    const { code, headers } = await approvers[guess % 2 === 0 ? 0 : 1].post(path, {
      binding_code: 'nope',
    });
    seen.push({ code, after: headers.get('retry-after') });
  }
  const right = /code (\d{4})$/.exec(String(opened['binding_message']))?.[1] ?? '';
  return { seen, approve: () => approvers[0].post(path, { binding_code: right }) };
}

/** Guesses until codes are refused without being compared. */
async function guessUntilBlocked(tenant: string, approvers: readonly [Rest, Rest]) {
  const codes: (string | undefined)[] = [];
  for (let requests = 0; requests < REQUESTS_MAX; requests += 1) {
    const last = await guessAll(tenant, approvers);
    codes.push(...last.seen.map(({ code }) => code));
    if (codes.at(-1) === 'too_many_attempts') return { codes, last };
  }
  throw new Error(`never blocked: ${codes}`);
}

const unlock = (tenant: string) =>
  both[0].publish({
    ...{ source: 'identity', type: 'user.unlocked', tenantId: tenant, streamId: 'signin-approver' },
    data: { id: userOf(tenant) },
  });

async function jobsOf(tenant: string): Promise<number> {
  const { rows } = await both[0].host
    .needsOf('approval')
    .database.system.query('SELECT 1 FROM approval.notification_jobs WHERE tenant_id = $1', [
      tenant,
    ]);
  return rows.length;
}

describe('an approver who does not know the codes', () => {
  it('P7 guesses codes at 20 times a day over all requests, then not for 15 minutes, an hour, …', async () => {
    const { id, approvers } = await approver('guessing', ['email', 'webhook']);
    const { codes, last } = await guessUntilBlocked(id, approvers);
    expect(codes).toEqual([...Array(20).fill('binding_code_mismatch'), 'too_many_attempts']);
    expect(last.seen.at(-1)?.after).toBe('900');
    expect((await last.approve()).code).toBe('too_many_attempts');
    await unlock(id);
    await untilTrue(
      async () => (await guessAll(id, approvers)).seen[0]?.code === 'binding_code_mismatch',
      { what: 'an administrator has let them try again' },
    );
  });

  it('P7 gets one mail for each block, at two replicas, also where requests are not mailed', async () => {
    const { id, approvers } = await approver('told', ['webhook'], 'de');
    const told = () => mails.filter(({ subject }) => subject === BLOCKED_SUBJECT.de);
    const before = await noticesCounted('codes_blocked', 'sent');
    await guessUntilBlocked(id, approvers);
    await untilTrue(async () => told().length === 1 && (await jobsOf(id)) === 0);
    // Attempts that are refused during the block cause no further mail.
    await guessAll(id, approvers);
    await unlock(id);
    await untilTrue(
      async () => (await guessAll(id, approvers)).seen[0]?.code === 'binding_code_mismatch',
    );
    expect(told().length).toBe(1);
    await guessUntilBlocked(id, approvers);
    await untilTrue(async () => told().length === 2 && (await jobsOf(id)) === 0);
    expect(await noticesCounted('codes_blocked', 'sent')).toBeGreaterThanOrEqual(before + 2);
    const [mail] = told() as [Mail];
    expect(mail.to).toBe(`${userOf(id)}@example.com`);
    expect(mail.text).toMatch(/^Gesperrt bis: \d{4}-\d\d-\d\d \d\d:\d\d UTC$/m);
    // The mail contains no code and nothing about a request.
    expect(mail.text.replaceAll(/\d{4}-\d\d-\d\d/g, '')).not.toMatch(/\d{4}|bot|github|nope/i);
  });

  it('P7 gets the mail about a block later where requests have used up the mails of a minute', async () => {
    const { id, approvers } = await approver('mailed', ['email']);
    const told = () => mails.filter(({ subject }) => subject === BLOCKED_SUBJECT.en);
    const before = told().length;
    // Makes seven requests, each of which is mailed.
    await guessUntilBlocked(id, approvers);
    await untilTrue(async () => (await jobsOf(id)) > 0);
    await untilTrue(async () => {
      const { rows } = await both[0].host
        .needsOf('approval')
        .database.system.query<{ later: boolean }>(
          `SELECT run_at > now() + interval '10 s' AS later FROM approval.notification_jobs
           WHERE tenant_id = $1 AND blocked_until IS NOT NULL`,
          [id],
        );
      return rows[0]?.later === true;
    });
    expect(told().length).toBe(before);
    for (const { clock } of both) clock.move(60_000);
    await untilTrue(() => told().length === before + 1);
  });

  it('P7 is told to others by an event, once for each block', async () => {
    const { id, approvers } = await approver('event', ['webhook']);
    await guessUntilBlocked(id, approvers);
    await guessAll(id, approvers);
    const { database: sql } = both[0].host.needsOf('approval');
    const events = await untilTrue(async () => {
      const { rows } = await sql.system.query<{ data: object }>(
        `SELECT value->'data' AS data FROM bus.records
         WHERE topic = 'cardea.approval.events.v1' AND value->>'tenantId' = $1
           AND value->>'type' = 'approval.codes_blocked'`,
        [id],
      );
      return rows.length > 0 && rows.map(({ data }) => data);
    });
    expect(events).toEqual([
      {
        context: expect.anything(),
        user_id: userOf(id),
        level: 1,
        blocked_until: expect.stringMatching(/^\d{4}-.*Z$/),
      },
    ]);
  });
});
