/** The removal of a role takes effect at once, and the last administrator of a tenant keeps theirs. */
import { accept } from '@cardea/event-store';
import { type RestAnswer, testForm, untilTrue } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import {
  type AdministratorListEvent,
  administratorLists,
  LEAVING_MS,
} from '../src/accounts/administrators/administrator-list.ts';
import { type Account, claimsOf, type IdentityFixture, PASSWORD } from './identity-fixture.ts';
import { identityReplicas } from './replicas-fixture.ts';

const replicas = identityReplicas();
const here = () => replicas.first;
const there = () => replicas.second;
const CALLERS = 50;
const ROUNDS = testForm.long ? 20 : 8;

const change = (fixture: IdentityFixture, by: Account, whom: Account, body: object) =>
  fixture.as(by).patch(`/api/v1/admin/users/${whom.userId}`, body);
const remove = (fixture: IdentityFixture, by: Account, whom: Account) =>
  fixture.as(by).delete(`/api/v1/admin/users/${whom.userId}`);
const DEMOTED = { roles: ['member'] };

let added = 0;
/** A user created by another user, and signed in. */
async function addUser(by: Account, roles: readonly string[]): Promise<Account> {
  added += 1;
  const { tenantId } = by;
  const email = `added.${added}@example.com`;
  const made = await here()
    .as(by)
    .post('/api/v1/admin/users', { email, password: PASSWORD, roles });
  expect(made.status).toBe(201);
  const entered = await here().logIn({ tenantId, email });
  const { user_id: userId, access_token: access, refresh_token: refresh } = entered.body;
  return { tenantId, userId, email, access, refresh };
}

async function ownerAndAdmin() {
  const owner = await here().signUp();
  return { owner, admin: await addUser(owner, ['admin']) };
}

describe('a role that was taken', () => {
  it('is gone from every replica when the taking is answered, and the session goes on without it', async () => {
    const { owner, admin } = await ownerAndAdmin();
    const list = (fixture: IdentityFixture) => fixture.as(admin).get('/api/v1/admin/users');
    for (const fixture of [here(), there()]) expect((await list(fixture)).status).toBe(200);
    expect((await change(here(), owner, admin, DEMOTED)).status).toBe(200);
    for (const fixture of [here(), there()]) {
      const key = { name: 'for ever', scopes: ['users:write'] };
      expect((await fixture.as(admin).post('/api/v1/api-keys', key)).status).toBe(401);
      expect((await list(fixture)).status).toBe(401);
    }
    const refreshed = await there().refresh(admin.refresh);
    expect(refreshed.status).toBe(200);
    const access = refreshed.body.access_token;
    expect(claimsOf(access).roles).toEqual(['member']);
    const now = { ...admin, access };
    for (const fixture of [here(), there()]) {
      expect((await fixture.as(now).get('/api/v1/auth/me')).status).toBe(200);
      expect((await fixture.as(now).get('/api/v1/admin/users')).status).toBe(403);
    }
  });

  it('is gone though another stays that ranks higher', async () => {
    const owner = await here().signUp();
    const other = await addUser(owner, ['owner', 'admin']);
    expect((await change(here(), owner, other, { roles: ['owner'] })).status).toBe(200);
    expect((await there().as(other).get('/api/v1/admin/users')).status).toBe(401);
  });

  it('stays gone when the cache has lost what it knew', async () => {
    const { owner, admin } = await ownerAndAdmin();
    await change(here(), owner, admin, DEMOTED);
    const { cache, revocations } = there().host.needsOf('identity');
    const key = `rev:rank:${admin.userId}`;
    const before = await cache.get(key);
    expect(Number(before)).toBeGreaterThan(claimsOf(admin.access).iat);
    await cache.delete(key);
    await cache.delete('rev:generation');
    await untilTrue(async () => (await cache.get(key)) === before, { what: 'it is written again' });
    const mark = { kind: 'rank', id: admin.userId, at: claimsOf(admin.access).iat } as const;
    expect((await revocations.look([mark])).revoked).toEqual([true]);
    expect((await there().as(admin).get('/api/v1/admin/users')).status).toBe(401);
  });

  it('is in no token that was refreshed meanwhile', async () => {
    const { owner, admin } = await ownerAndAdmin();
    const tokens: string[] = [];
    for (let n = 0; n < 10; n += 1) {
      tokens.push((await here().logIn(admin)).body.refresh_token);
    }
    const refreshing = tokens.map((token) => there().refresh(token));
    const taken = change(here(), owner, admin, DEMOTED);
    const answers = await Promise.all(refreshing);
    expect((await taken).status).toBe(200);
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      const access = body.access_token as string;
      const { status: listed } = await there()
        .as({ ...admin, access })
        .get('/api/v1/admin/users');
      expect([401, 403]).toContain(listed);
    }
  });

  it('makes no key that anybody gets to see once the taking is answered', async () => {
    const { owner, admin } = await ownerAndAdmin();
    const key = (n: number) => ({ name: `key ${n}`, scopes: ['agents:write'] });
    const make = (n: number) =>
      (n % 2 === 0 ? here() : there()).as(admin).post('/api/v1/api-keys', key(n));
    const early = Array.from({ length: CALLERS / 2 }, (_, n) => make(n));
    const taking = change(here(), owner, admin, DEMOTED);
    const late = Array.from({ length: CALLERS / 2 }, (_, n) => make(CALLERS + n));
    expect((await taking).status).toBe(200);
    const making = [...early, ...late, make(0), make(1)];
    const { store } = here().host.needsOf('identity');
    const log = await store.readLog('identity', 0n, 100_000);
    const takenAt = log.find(
      ({ type, data }) => type === 'RolesChanged' && data['id'] === admin.userId,
    )?.position;
    const shown = (await Promise.all(making)).filter(({ status }) => status === 201);
    const after = (await store.readLog('identity', takenAt ?? 0n, 100_000)).filter(
      ({ type }) => type === 'ApiKeyIssued',
    );
    const ids = new Set(shown.map(({ body }) => body.id));
    expect(after.filter(({ data }) => ids.has(data['id'] as string))).toEqual([]);
  });
});

describe('the last administrator', () => {
  const answersOf = (answers: readonly RestAnswer[]) =>
    answers.map(({ status, code }) => (status === 200 ? '200' : `${status} ${code}`)).sort();

  const BOTH_WAYS = [
    [
      'demote',
      (fixture: IdentityFixture, by: Account, whom: Account) => change(fixture, by, whom, DEMOTED),
    ],
    [
      'disable',
      (fixture: IdentityFixture, by: Account, whom: Account) =>
        change(fixture, by, whom, { status: 'disabled' }),
    ],
    ['delete', remove],
  ] as const;

  it.each(BOTH_WAYS)(
    'stays when two %s each other at once, and one of them is told so',
    async (_, take) => {
      let told = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        const ann = await here().signUp();
        const bob = await addUser(ann, ['owner', 'admin']);
        const answers = answersOf(
          await Promise.all([take(here(), ann, bob), take(there(), bob, ann)]),
        );
        // The second administrator no longer has the role that the request needs.
        expect(['409 last_admin', '401 unauthenticated']).toContain(answers[1]);
        expect(answers[0]).toBe('200');
        told += answers[1] === '409 last_admin' ? 1 : 0;
      }
      expect(told).toBeGreaterThan(ROUNDS / 2);
    },
  );

  it('R11 stays, round after round, when fifty calls on two replicas take the role from both', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const ann = await here().signUp();
      const bob = await addUser(ann, ['owner', 'admin']);
      const answers = await Promise.all(
        Array.from({ length: CALLERS }, async (_, n) => {
          const fixture = n % 4 < 2 ? here() : there();
          const [by, whom] = n % 2 === 0 ? [ann, bob] : [bob, ann];
          return { by, answer: await change(fixture, by, whom, DEMOTED) };
        }),
      );
      const lists = await Promise.all(
        [ann, bob].map((each) =>
          there()
            .as(each)
            .get('/api/v1/admin/users', { query: { role: 'admin' } }),
        ),
      );
      expect(lists.map(({ status }) => status).sort()).toEqual([200, 401]);
      const [stayed, gone] = lists[0]?.status === 200 ? [ann, bob] : [bob, ann];
      expect(lists.find(({ status }) => status === 200)?.body.users).toHaveLength(1);
      const of = (who: Account) => [
        ...new Set(answersOf(answers.filter(({ by }) => by === who).map(({ answer }) => answer))),
      ];
      for (const said of of(stayed)) expect(['200', '503 write_contention']).toContain(said);
      for (const said of of(gone)) {
        expect(['401 unauthenticated', '409 last_admin', '503 write_contention']).toContain(said);
      }
    }
  });

  it('is whoever is neither disabled nor about to leave; a mark that lapsed counts no more', async () => {
    const ann = await here().signUp();
    const bob = await addUser(ann, ['admin']);
    const cid = await addUser(ann, ['owner', 'admin']);
    expect((await change(there(), ann, bob, { status: 'disabled' })).status).toBe(200);
    const { streams, systemCommand, ids, clock } = here().host.needsOf('identity');
    const { tenantId } = ann;
    const marked = await streams.decideOn(
      administratorLists,
      tenantId,
      systemCommand(tenantId, ids.next()),
      (list) => {
        if (list.status === 'none') throw new Error('the list was built');
        const leaving = { id: cid.userId, command_id: 'killed', at: clock.now().toISOString() };
        expect(list).toEqual({
          status: 'built',
          ids: [ann.userId, cid.userId].sort(),
          leaving: [],
        });
        const data = { ids: list.ids, leaving: [leaving] };
        return accept<AdministratorListEvent>({ type: 'AdministratorsChanged', data });
      },
    );
    expect(marked.accepted).toBe(true);
    expect((await change(there(), cid, ann, DEMOTED)).code).toBe('last_admin');
    for (const fixture of [here(), there()]) fixture.clock.move(LEAVING_MS);
    expect((await change(there(), cid, ann, DEMOTED)).status).toBe(200);
    expect((await remove(here(), cid, cid)).code).toBe('last_admin');
    expect((await change(here(), cid, bob, { status: 'active' })).status).toBe(200);
    expect((await remove(there(), cid, cid)).status).toBe(200);
  });
});

describe('a change of an account', () => {
  it('R11 is one: fifty at once on two replicas, round after round, never mix', async () => {
    const owner = await here().signUp();
    const { tenantId } = owner;
    const roles = Array.from({ length: CALLERS }, (_, n) => `role-${n}`);
    await here().setTenant(tenantId, { roles });
    for (let round = 0; round < ROUNDS; round += 1) {
      const bob = await addUser(owner, ['member']);
      const answers = await Promise.all(
        roles.map((role, n) => {
          const body = { display_name: `is ${role}`, roles: [role] };
          return change(n % 2 === 0 ? here() : there(), owner, bob, body);
        }),
      );
      const done = answers.filter(({ status }) => status === 200);
      expect(done.length).toBeGreaterThan(0);
      const { body: after } = await there().as(owner).get(`/api/v1/admin/users/${bob.userId}`);
      for (const body of [after, ...done.map((answer) => answer.body)]) {
        expect(body.display_name).toBe(`is ${body.roles[0]}`);
      }
      await expectWholeChanges(bob);
    }
  });

  it('that is refused changes nothing', async () => {
    const owner = await here().signUp();
    const body = { display_name: 'Renamed', roles: ['member'] };
    expect((await change(here(), owner, owner, body)).code).toBe('last_admin');
    const { display_name, roles } = (await there().as(owner).get('/api/v1/user/profile')).body;
    expect({ display_name, roles }).toEqual({ display_name: null, roles: ['owner', 'admin'] });
  });
});

/** All events of one request are in one append to the account's stream. */
async function expectWholeChanges({ userId }: Account): Promise<void> {
  const { store } = here().host.needsOf('identity');
  const events = await store.readStream(`user-${userId}`);
  const changes = events.filter(({ type }) => /^(ProfileChanged|RolesChanged)$/.test(type));
  for (const [n, { type, metadata }] of changes.entries()) {
    if (type !== 'ProfileChanged') continue;
    const { requestId } = metadata;
    expect(changes[n + 1]).toMatchObject({ type: 'RolesChanged', metadata: { requestId } });
  }
}
