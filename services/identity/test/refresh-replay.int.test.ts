import { accept } from '@cardea/event-store';
import { testForm } from '@cardea/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { type SessionFacts, sessions } from '../src/sessions/session.ts';
import { type Account, claimsOf, PASSWORD } from './identity-fixture.ts';
import {
  type Client,
  fromNetwork,
  identityReplicas,
  refreshAs,
  tally,
} from './replicas-fixture.ts';

const OWNER: Client = { network: 1, agent: 'Mozilla/5.0 (of the owner)' };
const THIEVES: readonly (Client & { readonly name: string })[] = [
  { ...OWNER, name: 'of another network', network: 2 },
  { ...OWNER, name: 'with another user agent', agent: 'curl/8' },
];
const LEEWAY_MS = 11_000;
const MINUTE_MS = 60_000;
const ROUNDS = testForm.long ? 20 : 8;
const CALLERS = 50;

const replicas = identityReplicas();
let admin: Account;
beforeAll(async () => {
  admin = await replicas.first.signUp();
});

/** A session whose first refresh token a client has just used. */
async function refreshedBy(client: Client, tenantId = admin.tenantId) {
  const { access, refresh: stolen, ...account } = await replicas.first.register(tenantId);
  const { body, status } = await refreshAs(replicas.first, stolen, client);
  expect(status).toBe(200);
  return { account, sid: claimsOf(access).sid as string, stolen, next: body.refresh_token };
}

const setMode = (tenantId: string, mode: 'leeway' | 'strict' | 'idempotent') =>
  replicas.first.setTenant(tenantId, { refresh: { mode, leeway_seconds: 10 } });

const eventsOf = async (sid: string) =>
  (await replicas.first.eventsSince(0n)).filter(({ streamId }) => streamId === `session-${sid}`);
const typesOf = async (sid: string) => (await eventsOf(sid)).map(({ type }) => type);

async function afterLeeway(work: () => Promise<unknown>): Promise<void> {
  for (const { clock } of [replicas.first, replicas.second]) clock.move(LEEWAY_MS);
  await work();
  for (const { clock } of [replicas.first, replicas.second]) clock.move(-LEEWAY_MS);
}

describe('a refresh token that was used a moment ago', () => {
  it.each(THIEVES)(
    'S11 identity 23 is refused to its owner after a thief $name, and ends the family after the leeway',
    async (thief) => {
      const { sid, stolen, next } = await refreshedBy(thief);
      const own = await refreshAs(replicas.second, stolen, OWNER);
      expect(own).toMatchObject({ status: 401, code: 'refresh_token_rotated' });
      expect(await typesOf(sid)).not.toContain('SessionRevoked');
      await afterLeeway(() => refreshAs(replicas.second, stolen, OWNER));
      const further = await refreshAs(replicas.first, next, thief);
      expect(further).toMatchObject({ status: 401, code: 'invalid_refresh_token' });
      const last = (await eventsOf(sid)).at(-1);
      expect(last).toMatchObject({ type: 'SessionRevoked', data: { reason: 'reuse' } });
    },
  );

  it.each(THIEVES)(
    'S11 identity 23 gives nothing to a thief $name after its owner, who keeps the session',
    async (thief) => {
      const { sid, stolen, next } = await refreshedBy(OWNER);
      expect((await refreshAs(replicas.second, stolen, thief)).code).toBe('refresh_token_rotated');
      expect((await eventsOf(sid)).at(-1)).toMatchObject({
        type: 'SessionRefreshRepeated',
        data: { repeated_elsewhere: true },
      });
      expect((await refreshAs(replicas.first, next, OWNER)).status).toBe(200);
    },
  );

  it('is forgiven to the client that used it, at another address of its network, and recorded once a minute', async () => {
    const { sid, stolen, next } = await refreshedBy(OWNER);
    for (const host of [7, 8, 9]) {
      const again = await refreshAs(replicas.at(host), stolen, { ...OWNER, host });
      expect(again).toMatchObject({ status: 401, code: 'refresh_token_rotated' });
    }
    expect(await typesOf(sid)).toEqual([
      'SessionStarted',
      'SessionRefreshed',
      'SessionRefreshRepeated',
    ]);
    const after = await refreshAs(replicas.second, next, OWNER);
    expect(after.status).toBe(200);
    await refreshAs(replicas.first, next, OWNER);
    expect(await typesOf(sid)).toHaveLength(4);
    for (const { clock } of [replicas.first, replicas.second]) clock.move(MINUTE_MS);
    const { body } = await refreshAs(replicas.first, after.body.refresh_token, OWNER);
    await refreshAs(replicas.second, after.body.refresh_token, OWNER);
    expect((await typesOf(sid)).slice(4)).toEqual(['SessionRefreshed', 'SessionRefreshRepeated']);
    expect((await refreshAs(replicas.first, body.refresh_token, OWNER)).status).toBe(200);
    for (const { clock } of [replicas.first, replicas.second]) clock.move(-MINUTE_MS);
  });

  it('R11 identity 4 of fifty at once on two replicas, round after round, one wins and its successor works', async () => {
    const { tenantId } = await replicas.first.signUp();
    // Long enough for a busy machine to make fifty requests.
    const refresh = { mode: 'leeway', leeway_seconds: 300 } as const;
    await replicas.first.setTenant(tenantId, { refresh });
    for (let round = 0; round < ROUNDS; round += 1) {
      const account = await replicas.first.register(tenantId);
      const answers = await Promise.all(
        Array.from({ length: CALLERS }, (_, n) =>
          refreshAs(replicas.at(n), account.refresh, OWNER),
        ),
      );
      expect(tally(answers)).toEqual({ '200 ok': 1, '401 refresh_token_rotated': CALLERS - 1 });
      const winner = answers.find(({ status }) => status === 200);
      expect((await refreshAs(replicas.second, winner?.body.refresh_token, OWNER)).status).toBe(
        200,
      );
      const types = await typesOf(claimsOf(account.access).sid);
      expect(types.filter((type) => type === 'SessionRefreshRepeated')).toHaveLength(1);
    }
  });

  it('ends the family in strict mode, whoever shows it', async () => {
    const { tenantId } = await replicas.first.signUp();
    await setMode(tenantId, 'strict');
    const { stolen, next } = await refreshedBy(OWNER, tenantId);
    expect((await refreshAs(replicas.second, stolen, OWNER)).code).toBe('refresh_token_rotated');
    expect((await refreshAs(replicas.first, next, OWNER)).code).toBe('invalid_refresh_token');
  });

  it('gives its successor again in idempotent mode, but to nobody else', async () => {
    const { tenantId } = await replicas.first.signUp();
    await setMode(tenantId, 'idempotent');
    const { stolen, next } = await refreshedBy(OWNER, tenantId);
    const again = await refreshAs(replicas.second, stolen, OWNER);
    expect(again).toMatchObject({ status: 200, body: { refresh_token: next } });
    const thief = await refreshAs(replicas.second, stolen, { ...OWNER, network: 3 });
    expect(thief.code).toBe('refresh_token_rotated');
    expect((await refreshAs(replicas.first, next, OWNER)).status).toBe(200);
  });

  it('is forgiven where a release before this one made the refresh and recorded nobody', async () => {
    const { account, sid, next } = await refreshedBy(OWNER);
    const { streams, systemCommand, ids } = replicas.first.host.needsOf('identity');
    const command = systemCommand(account.tenantId, ids.next());
    // Writes the event that such a release would write for a session with the field.
    await streams.decideOn(sessions, sid, command, (session) => {
      if (session.status === 'none') throw new Error('the session is there');
      const { status: _status, ...facts } = session;
      const rotated_at = replicas.first.clock.now().toISOString();
      const data: SessionFacts = { ...facts, seq: facts.seq + 1, rotated_at };
      return accept({ type: 'SessionRefreshed', data });
    });
    const foreign = { ...OWNER, network: 4 };
    expect((await refreshAs(replicas.second, next, foreign)).code).toBe('refresh_token_rotated');
    expect(await typesOf(sid)).not.toContain('SessionRevoked');
  });

  it('shows in no event who used it', async () => {
    const { sid } = await refreshedBy({ network: 200, agent: 'AgentThatNobodyElseHas/1' });
    expect(JSON.stringify((await eventsOf(sid)).map(({ data }) => data))).not.toMatch(
      /AgentThatNobodyElseHas|10\.0\.200/,
    );
  });
});

describe('a session', () => {
  it('is refreshed by the client that moves to another network, as long as it has the newest token', async () => {
    const { account } = await refreshedBy(OWNER);
    const body = { email: account.email, password: PASSWORD };
    const { tenantId: tenant } = account;
    const headers = fromNetwork(9);
    const login = await replicas.first.rest.post('/api/v1/auth/login', body, { tenant, headers });
    let token = login.body.refresh_token;
    for (const network of [1, 2, 3]) {
      const answer = await refreshAs(replicas.at(network), token, { ...OWNER, network });
      expect(answer.status).toBe(200);
      token = answer.body.refresh_token;
    }
  });
});
