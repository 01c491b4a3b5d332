import { testDatabase, testForm } from '@cardea/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Account, claimsOf, type IdentityRig, identityRig } from './identity-rig.ts';

const RUNS = Number(process.env['CARDEA_MODEL_RUNS'] ?? 200);
const COMMANDS_MAX = 12;
const LEEWAY_MS = 10_000;
const TIMEOUT_MS = 540_000;

const database = testDatabase();
let rig: IdentityRig;
let admin: Account;
beforeAll(async () => {
  rig = await identityRig(database.url, { RATE_LIMIT_FACTOR: '100000', JWT_EXPIRY: '24h' });
  admin = await rig.signUp();
});
afterAll(async () => {
  await rig?.stop();
});

/** What must be true of a session, kept in the simplest way: a list of tokens, of which the last works. */
type ModelSession = { tokens: string[]; access: string; alive: boolean; rotatedMs: number };
type Model = { sessions: ModelSession[]; enabled: boolean; password: number };
type Real = { account: Account };

type Command = fc.AsyncCommand<Model, Real>;
const passwordOf = (number: number) => `password number ${number}`;
const nowMs = () => rig.clock.now().getTime();
const pick = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;
const as = (session: ModelSession, { account }: Real) =>
  rig.as({ access: session.access, tenantId: account.tenantId });

const logIn: Command = {
  check: () => true,
  run: async (model, { account }) => {
    const answer = await rig.logIn(account, passwordOf(model.password));
    expect(answer.status).toBe(model.enabled ? 200 : 401);
    if (!model.enabled) return;
    const { refresh_token, access_token } = answer.body;
    model.sessions.push({
      tokens: [refresh_token],
      access: access_token,
      alive: true,
      rotatedMs: nowMs(),
    });
  },
  toString: () => 'log in',
};

const refresh = (which: number, age: number): Command => ({
  check: ({ sessions }) => sessions.length > 0,
  run: async (model) => {
    const session = pick(model.sessions, which);
    const shown = Math.max(0, session.tokens.length - 1 - age);
    const answer = await rig.refresh(session.tokens[shown] ?? '');
    const back = session.tokens.length - 1 - shown;
    if (back > 0) {
      expect(answer.code).toBe('refresh_token_rotated');
      const forgiven = back === 1 && nowMs() - session.rotatedMs <= LEEWAY_MS;
      if (!forgiven) session.alive = false;
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
  },
  toString: () => `refresh session ${which} with its token -${age}`,
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
    expect((await rig.as(admin).patch(path, { status })).status).toBe(200);
    model.enabled = enabled;
    if (!enabled) for (const session of model.sessions) session.alive = false;
  },
  toString: () => (enabled ? 'open the account' : 'close the account'),
});

const wait = (ms: number): Command => ({
  check: () => true,
  run: async () => {
    rig.clock.move(ms);
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
const commands = fc.commands(
  [
    fc.constant(logIn),
    fc.tuple(index, fc.constantFrom(0, 0, 0, 1, 2)).map(([which, age]) => refresh(which, age)),
    fc.tuple(index, index).map(([which, by]) => end(which, by)),
    index.map(endOthers),
    index.map(changePassword),
    fc.boolean().map(setStatus),
    // No sum of them comes near the leeway, whatever time the calls take beside.
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
        fc.asyncProperty(commands, async (some) => {
          const { tenantId } = admin;
          const account = await rig.register(tenantId);
          const first = { tokens: [account.refresh], access: account.access, alive: true };
          const model: Model = {
            sessions: [{ ...first, rotatedMs: nowMs() }],
            enabled: true,
            password: 0,
          };
          await rig.as(account).post('/api/v1/user/change-password', {
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
