import { accept } from '@cardea/event-store';
import { type RestDriver, testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { exists } from '../src/accounts/users/user.ts';
import { argon2 } from '../src/adapters/argon2.ts';
import { agentSessions } from '../src/agents/agent-sessions/agent-session.ts';
import { identityModules } from '../src/service.ts';
import {
  type Account,
  type IdentityFixture,
  identityFixture,
  PASSWORD,
} from './identity-fixture.ts';

const SERVICES = [{ service_name: 'warehouse', fields: ['password'] }];
const CHEAP = { memoryKib: 64, time: 1 };
const HOUR_MS = 3_600_000;
const DAY_S = 86_400;

const database = testDatabase();
let fixture: IdentityFixture;
let ann: Account;
let agent: { readonly id: string; readonly as: RestDriver };
/** Awaited before an event of this type is appended, to simulate a process that stalls there. */
let beforeAppend: { readonly type: string; readonly hold: () => Promise<unknown> } | undefined;

beforeAll(async () => {
  fixture = await identityFixture(database.url, {
    RATE_LIMIT_FACTOR: '1000',
    REFRESH_TOKEN_EXPIRY: '1h',
    JWT_EXPIRY: '30m',
  });
  const { store } = fixture.host.needsOf('identity');
  const append = store.append.bind(store);
  Object.assign(store, {
    append: async (batch: Parameters<typeof append>[0]) => {
      const held = batch.some(({ events }) =>
        events.some(({ type }) => type === beforeAppend?.type),
      );
      if (held) await beforeAppend?.hold();
      return append(batch);
    },
  });
  ann = await fixture.signUp();
  const made = await fixture.as(ann).post('/api/v1/agents', { name: 'porter', services: SERVICES });
  const { id } = made.body;
  const key = await fixture.as(ann).post(`/api/v1/agents/${id}/keys`, { name: 'k' });
  agent = { id, as: fixture.rest.as({ bearer: key.body.key, tenant: ann.tenantId }) };
});
afterEach(() => {
  beforeAppend = undefined;
});
afterAll(async () => {
  await fixture?.stop();
});

const start = (more: object) =>
  agent.as.post('/api/v1/agent/sessions', { services: SERVICES, ...more });
const renew = (id: string) => agent.as.post(`/api/v1/agent/sessions/${id}/tokens`);
const changePassword = (account: Account) =>
  fixture.as(account).post('/api/v1/user/change-password', {
    current_password: PASSWORD,
    new_password: 'another good one',
  });
const reasonOf = async (id: string) => {
  const { streams } = fixture.host.needsOf('identity');
  const { state } = await streams.load(agentSessions, { tenantId: ann.tenantId, id });
  return state.status === 'none' ? undefined : state.reason;
};

/** Issues a token as sign-ins without a session do. */
async function tokenWithoutSession({ tenantId, userId, email }: Account): Promise<string> {
  const needs = fixture.host.needsOf('identity');
  const { signingKeys, accounts, workspaces, sessions } = identityModules(needs, {
    passwordFunction: argon2(CHEAP),
    toAscii: (name) => name,
    breachedPasswords: async () => false,
  });
  await signingKeys.signingKeys.start();
  try {
    const readAt = fixture.clock.now();
    const user = await accounts.userDirectory.byId(tenantId, userId);
    const tenant = await workspaces.workspaces.tenant(tenantId);
    if (!exists(user) || tenant === undefined) throw new Error('user and tenant are there');
    const authTime = Math.floor(fixture.clock.now().getTime() / 1_000);
    const of = { user, readAt, email, tenant, sid: null, authTime, amr: ['otp'], appId: null };
    return sessions.accessTokens.issue(of).token;
  } finally {
    await signingKeys.signingKeys.stop();
  }
}

const isRevoked = async (id: string) =>
  (await fixture.shared.cache.get(`rev:asid:${id}`)) !== undefined;

describe('what an agent session on behalf of a user rests on', () => {
  it('S11 may go while it starts: then it does not', async () => {
    const bob = await fixture.register(ann.tenantId);
    let changed: Promise<unknown> | undefined;
    beforeAppend = {
      type: 'AgentSessionStarted',
      hold: async () => {
        changed ??= changePassword(bob);
        await changed;
      },
    };
    const answer = await start({ subject_token: bob.access });
    expect(answer).toMatchObject({ status: 400, code: 'invalid_subject_token' });
    const events = await fixture.eventsSince(0n);
    expect(events.filter(({ type }) => type === 'AgentSessionStarted')).toEqual([]);
  });

  it('does not come back with a user who is disabled and enabled again before anybody has ended the session', async () => {
    const bob = await fixture.register(ann.tenantId);
    const { id } = (await start({ subject_token: bob.access })).body.data;
    const path = `/api/v1/admin/users/${bob.userId}`;
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    beforeAppend = { type: 'AgentSessionEnded', hold: () => held };
    try {
      expect((await fixture.as(ann).patch(path, { status: 'disabled' })).status).toBe(200);
      expect((await fixture.as(ann).patch(path, { status: 'active' })).status).toBe(200);
      expect(await isRevoked(id)).toBe(true);
    } finally {
      release();
    }
    expect((await renew(id)).code).toBe('session_ended');
  });

  it('is the user’s epoch where the token names no login', async () => {
    const bob = await fixture.register(ann.tenantId);
    const token = await tokenWithoutSession(bob);
    const { id } = (await start({ subject_token: token })).body.data;
    expect((await renew(id)).status).toBe(201);
    expect((await fixture.as(bob).delete('/api/v1/me/sessions')).status).toBe(200);
    expect((await renew(id)).code).toBe('session_ended');
    expect(await isRevoked(id)).toBe(true);
    expect((await start({ subject_token: token })).code).toBe('invalid_subject_token');
    fixture.clock.move(2_000);
    const later = await start({ subject_token: await tokenWithoutSession(bob) });
    expect(later.status).toBe(201);
    fixture.clock.move(-2_000);
  });

  it('is looked at in the streams while the cache is away and nobody has ended the session yet', async () => {
    const bob = await fixture.register(ann.tenantId);
    const other = await fixture.register(ann.tenantId);
    const { id } = (await start({ subject_token: bob.access })).body.data;
    const { id: lives } = (await start({ subject_token: other.access })).body.data;
    const needs = fixture.host.needsOf('identity');
    const ended = async () => {
      const marks = [id, lives].map((each) => ({ kind: 'asid' as const, id: each }));
      return (await needs.peers.identity.ended({ marks })).ended;
    };
    expect(await ended()).toEqual([false, false]);
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    // The session is neither in a revocation list nor ended, as on a replica that was not notified.
    const { add, isRevoked } = needs.revocations;
    Object.assign(needs.revocations, { add: async () => undefined, isRevoked: () => false });
    beforeAppend = { type: 'AgentSessionEnded', hold: () => held };
    try {
      expect((await changePassword(bob)).status).toBe(200);
      expect(await ended()).toEqual([true, false]);
      expect(await reasonOf(id)).toBeNull();
    } finally {
      Object.assign(needs.revocations, { add, isRevoked });
      release();
    }
    await untilTrue(async () => (await reasonOf(id)) === 'password_set', { what: 'its end' });
  });

  it('is gone, for a session that an earlier release has started, when its user ends all sessions', async () => {
    const bob = await fixture.register(ann.tenantId);
    const { streams, systemCommand, ids } = fixture.host.needsOf('identity');
    const sessionOf = async (): Promise<string> => {
      const { id } = (await start({ subject_token: bob.access })).body.data;
      const { state } = await streams.load(agentSessions, { tenantId: ann.tenantId, id });
      if (state.status === 'none') throw new Error('the session is there');
      const { status: _status, user_epoch: _epoch, subject_sid: _sid, ...facts } = state;
      const older = { ...facts, id: ids.next() };
      await streams.decideOn(agentSessions, older.id, systemCommand(ann.tenantId, ids.next()), () =>
        accept({ type: 'AgentSessionStarted', data: older }),
      );
      return older.id;
    };
    const before = await sessionOf();
    expect((await renew(before)).status).toBe(201);
    expect((await fixture.as(bob).delete('/api/v1/me/sessions')).status).toBe(200);
    expect(await renew(before)).toMatchObject({ status: 410, code: 'session_ended' });
    expect(await isRevoked(before)).toBe(true);
    await untilTrue(async () => (await reasonOf(before)) === 'sessions_revoked', {
      what: 'its end',
    });
    expect((await renew(await sessionOf())).status).toBe(201);
  });

  it('runs out with a login that nobody refreshes, and not before', async () => {
    const [bob, eve] = [await fixture.register(ann.tenantId), await fixture.register(ann.tenantId)];
    const ttl_seconds = DAY_S;
    const { id } = (await start({ subject_token: bob.access, ttl_seconds })).body.data;
    const { id: lives } = (await start({ subject_token: eve.access, ttl_seconds })).body.data;
    fixture.clock.move(HOUR_MS / 2);
    expect((await fixture.refresh(eve.refresh)).status).toBe(200);
    fixture.clock.move(HOUR_MS / 2);
    expect(await renew(id)).toMatchObject({ status: 410, code: 'session_ended' });
    expect((await renew(lives)).status).toBe(201);
    await untilTrue(async () => (await reasonOf(id)) === 'login_ended', { what: 'the sweeper' });
    expect(await reasonOf(lives)).toBeNull();
    fixture.clock.move(-HOUR_MS);
  });
});
