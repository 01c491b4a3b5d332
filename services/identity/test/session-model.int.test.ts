import { testForm } from '@cardea/testing';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RefreshMode } from '../src/workspaces/tenants/tenant.ts';
import { type Account, claimsOf } from './identity-fixture.ts';
import { type Client, identityReplicas, refreshAs } from './replicas-fixture.ts';

const RUNS = Number(process.env['CARDEA_MODEL_RUNS'] ?? (testForm.long ? 1_000 : 60));
const COMMANDS_MAX = 12;
const LEEWAY_MS = 10_000;
const TIMEOUT_MS = 540_000;

const MODES = ['leeway', 'strict', 'idempotent'] as const;
/** The owner, and thieves with another network and another user agent. */
const CLIENTS: readonly Client[] = [
  { network: 1, agent: 'Mozilla/5.0 (of the owner)' },
  { network: 2, agent: 'Mozilla/5.0 (of the owner)' },
  { network: 1, agent: 'curl/8' },
];

const replicas = identityReplicas({ JWT_EXPIRY: '24h' });
/** One administrator per refresh mode, each in a separate tenant. */
const admins = new Map<RefreshMode, Account>();
beforeAll(async () => {
  for (const mode of MODES) {
    const admin = await replicas.first.signUp();
    const refresh = { mode, leeway_seconds: LEEWAY_MS / 1_000 };
    await replicas.first.setTenant(admin.tenantId, { refresh });
    admins.set(mode, admin);
  }
});
const adminOf = (mode: RefreshMode): Account => {
  const admin = admins.get(mode);
  if (admin === undefined) throw new Error(`nobody administers ${mode}`);
  return admin;
};

/** The model of a session: a list of tokens, of which only the last one works. */
type ModelSession = {
  tokens: string[];
  access: string;
  alive: boolean;
  rotatedMs: number;
  /** The client that made the last refresh. */
  refreshedBy: number | undefined;
};
type Model = { mode: RefreshMode; sessions: ModelSession[]; enabled: boolean; password: number };
type Real = { account: Account };

type Command = fc.AsyncCommand<Model, Real>;
const passwordOf = (number: number) => `password number ${number}`;
const nowMs = () => replicas.first.clock.now().getTime();
const pick = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;
const as = (session: ModelSession, { account }: Real) =>
  replicas.first.as({ access: session.access, tenantId: account.tenantId });

const logIn = (replica: number): Command => ({
  check: () => true,
  run: async (model, { account }) => {
    const answer = await replicas.at(replica).logIn(account, passwordOf(model.password));
    expect(answer.status).toBe(model.enabled ? 200 : 401);
    if (!model.enabled) return;
    const { refresh_token, access_token } = answer.body;
    model.sessions.push({
      tokens: [refresh_token],
      access: access_token,
      alive: true,
      rotatedMs: nowMs(),
      refreshedBy: undefined,
    });
  },
  toString: () => `log in at ${replica}`,
});

type Refreshing = { which: number; age: number; client: number; replica: number };

const refresh = ({ which, age, client, replica }: Refreshing): Command => ({
  check: ({ sessions }) => sessions.length > 0,
  run: async (model) => {
    const session = pick(model.sessions, which);
    const shown = Math.max(0, session.tokens.length - 1 - age);
    const caller = pick(CLIENTS, client);
    const answer = await refreshAs(replicas.at(replica), session.tokens[shown] ?? '', caller);
    const back = session.tokens.length - 1 - shown;
    if (back > 0) {
      const isLate = nowMs() - session.rotatedMs > LEEWAY_MS;
      const isCallers = session.refreshedBy === client;
      // A token from elsewhere is refused as well, but the family stays alive.
      const isForgiven = model.mode !== 'strict' && back === 1 && !isLate;
      if (isForgiven && isCallers && session.alive && model.mode === 'idempotent') {
        expect(answer.body.refresh_token).toBe(session.tokens.at(-1));
        return;
      }
      expect(answer.code).toBe('refresh_token_rotated');
      if (!isForgiven) session.alive = false;
      return;
    }
    if (!session.alive) {
      expect(answer.code).toBe('invalid_refresh_token');
      return;
    }
    expect(answer.status).toBe(200);
    expect(claimsOf(answer.body.access_token).sid).toBe(claimsOf(session.access).sid);
    session.tokens.push(answer.body.refresh_token);
    session.access = answer.body.access_token;
    session.rotatedMs = nowMs();
    session.refreshedBy = client;
  },
  toString: () => `refresh session ${which} with its token -${age} as ${client} at ${replica}`,
});

const end = (which: number, by: number): Command => ({
  check: ({ sessions }) => sessions.length > 0,
  run: async (model, real) => {
    const [session, caller] = [pick(model.sessions, which), pick(model.sessions, by)];
    const { sid } = claimsOf(session.access);
    const answer = await as(caller, real).delete(`/api/v1/me/sessions/${sid}`);
    if (!model.enabled) {
      expect(answer.status).toBe(401);
      return;
    }
    if (session.alive) expect(answer.body).toEqual({ status: 'revoked' });
    session.alive = false;
  },
  toString: () => `end session ${which} by ${by}`,
});

const endOthers = (by: number): Command => ({
  check: ({ sessions }) => sessions.length > 0,
  run: async (model, real) => {
    const caller = pick(model.sessions, by);
    const answer = await as(caller, real).delete('/api/v1/me/sessions');
    if (!model.enabled) {
      expect(answer.status).toBe(401);
      return;
    }
    const ended = model.sessions.filter((session) => session.alive && session !== caller);
    expect(answer.body).toEqual({ revoked: ended.length, kept: caller.alive ? 1 : 0 });
    for (const session of ended) session.alive = false;
  },
  toString: () => `end all but ${by}`,
});

const changePassword = (by: number): Command => ({
  check: ({ sessions }) => sessions.length > 0,
  run: async (model, real) => {
    const caller = pick(model.sessions, by);
    const answer = await as(caller, real).post('/api/v1/user/change-password', {
      current_password: passwordOf(model.password),
      new_password: passwordOf(model.password + 1),
    });
    expect(answer.status).toBe(model.enabled ? 200 : 401);
    if (!model.enabled) return;
    model.password += 1;
    for (const session of model.sessions) session.alive &&= session === caller;
  },
  toString: () => `change the password by ${by}`,
});

const setStatus = (enabled: boolean): Command => ({
  check: (model) => model.enabled !== enabled,
  run: async (model, { account }) => {
    const status = enabled ? 'active' : 'disabled';
    const path = `/api/v1/admin/users/${account.userId}`;
    // The clock advances between the commands, and the call requires a recent sign-in.
    const owner = adminOf(model.mode);
    const { body } = await replicas.first.logIn(owner);
    const admin = replicas.first.as({ ...owner, access: body.access_token });
    expect((await admin.patch(path, { status })).status).toBe(200);
    model.enabled = enabled;
    if (!enabled) for (const session of model.sessions) session.alive = false;
  },
  toString: () => (enabled ? 'open the account' : 'close the account'),
});

const wait = (ms: number): Command => ({
  check: () => true,
  run: async () => {
    for (const { clock } of [replicas.first, replicas.second]) clock.move(ms);
  },
  toString: () => `wait ${ms} ms`,
});

const list: Command = {
  check: ({ sessions, enabled }) => enabled && sessions.length > 0,
  run: async (model, real) => {
    const caller = pick(model.sessions, 0);
    const { body } = await as(caller, real).get('/api/v1/me/sessions');
    const alive = model.sessions.filter((session) => session.alive);
    const sids = (of: readonly string[]) => [...of].sort();
    expect(sids(body.sessions.map(({ id }: { id: string }) => id))).toEqual(
      sids(alive.map(({ access }) => claimsOf(access).sid)),
    );
  },
  toString: () => 'list',
};

const index = fc.nat({ max: 5 });
const replica = fc.nat({ max: 1 });
const refreshing = fc.record({
  which: index,
  age: fc.constantFrom(0, 0, 0, 1, 1, 2),
  client: fc.constantFrom(0, 0, 0, 1, 2),
  replica,
});
const commands = fc.commands(
  [
    replica.map(logIn),
    refreshing.map(refresh),
    refreshing.map(refresh),
    fc.tuple(index, index).map(([which, by]) => end(which, by)),
    index.map(endOthers),
    index.map(changePassword),
    fc.boolean().map(setStatus),
    // No sum of these is close to the leeway, however long the calls take.
    fc.constantFrom(6_000, 13_000).map(wait),
    fc.constant(list),
  ],
  { maxCommands: COMMANDS_MAX },
);

describe('sessions and refresh', () => {
  it(
    'F5 S11 identity 5 behave like a list of tokens of which at most the last one works',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...MODES), commands, async (mode, some) => {
          const account = await replicas.first.register(adminOf(mode).tenantId);
          const first = { tokens: [account.refresh], access: account.access, alive: true };
          const model: Model = {
            mode,
            sessions: [{ ...first, rotatedMs: nowMs(), refreshedBy: undefined }],
            enabled: true,
            password: 0,
          };
          await replicas.first.as(account).post('/api/v1/user/change-password', {
            current_password: 'correct horse battery',
            new_password: passwordOf(0),
          });
          await fc.asyncModelRun(() => ({ model, real: { account } }), some);
        }),
        { numRuns: RUNS, seed: testForm.seed, endOnFailure: true },
      );
    },
    TIMEOUT_MS,
  );
});
