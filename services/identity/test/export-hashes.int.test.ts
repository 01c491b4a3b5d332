/** The owner of a tenant exports its users with their password hashes and imports them elsewhere. */
import { describe, expect, it } from 'vitest';
import { type Account, PASSWORD } from './identity-fixture.ts';
import { application, authorized, oauthOfFile, token } from './oauth-fixture.ts';

const { fixture, admin } = oauthOfFile();
const EXPORT = '/api/v1/admin/users/export';
const WITH_HASHES = `${EXPORT}?include=password_hash`;
const IMPORT = '/api/v1/admin/users/import';

const exported = (account: Pick<Account, 'access' | 'tenantId'>) =>
  fixture.as(account).get(WITH_HASHES);
type Line = { readonly email: string; readonly password_hash: string | null };
const usersOf = (text: string): readonly Line[] =>
  text
    .trimEnd()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
const recorded = async ({ tenantId }: Pick<Account, 'tenantId'>) =>
  (await fixture.eventsSince(0n)).filter(
    ({ type, metadata }) => type === 'UsersExported' && metadata.tenantId === tenantId,
  );
async function person(roles: readonly string[]): Promise<Account> {
  const email = `${roles.join('.')}.${fixture.clock.now().getTime()}@example.com`;
  const fields = { email, password: PASSWORD, roles };
  const { body: made } = await fixture.as(admin).post('/api/v1/admin/users', fields);
  const { tenantId } = admin;
  const { body } = await fixture.logIn({ tenantId, email });
  const { access_token: access, refresh_token: refresh } = body;
  return { tenantId, userId: made.id, email, access, refresh };
}

describe('standards 9 an export with password hashes', () => {
  it('has the stored hash of each user, and null where there is none', async () => {
    const owner = await fixture.signUp();
    const bob = await fixture.register(owner.tenantId);
    const without = { email: 'without@example.com' };
    await fixture.as(owner).post('/api/v1/admin/users', without);
    const answer = await exported(owner);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const hashes = usersOf(answer.text).map(({ email, password_hash }) => [email, password_hash]);
    const phc = expect.stringMatching(/^\$argon2id\$v=19\$m=64,t=1,p=1\$/);
    expect(new Map(hashes as [string, unknown][])).toEqual(
      new Map<string, unknown>([
        [without.email, null],
        [bob.email, phc],
        [owner.email, phc],
      ]),
    );
    expect(answer.text.trimEnd().split('\n').at(-1)).toBe('{"end":true,"count":3}');
    expect((await fixture.as(owner).get(EXPORT)).text).not.toContain('password_hash');
  });

  it('is recorded as such before the first line, and its hashes stand nowhere else', async () => {
    const owner = await fixture.signUp();
    const answer = await exported(owner);
    const [user] = usersOf(answer.text);
    const hash = user?.password_hash ?? '';
    expect((await recorded(owner)).map(({ data }) => data)).toEqual([
      { rows: 1, included: ['password_hash'] },
    ]);
    const salt = hash.split('$')[4] ?? '';
    expect(salt).toHaveLength(22);
    expect(fixture.lines.join('')).not.toContain(salt);
    const events = JSON.stringify(await fixture.eventsSince(0n), (_, value) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    expect(events).not.toContain(salt);
  });

  it('opens the same accounts by the same passwords in another tenant', async () => {
    const from = await fixture.signUp();
    const people = [await fixture.register(from.tenantId), await fixture.register(from.tenantId)];
    const lines = usersOf((await exported(from)).text).filter(({ email }) => email !== from.email);
    const users = lines.map(({ email, password_hash }) => ({ email, password_hash }));
    const to = await fixture.signUp();
    const { body } = await fixture.as(to).post(IMPORT, { users });
    expect(body).toEqual({ imported: 2, failed: [] });
    for (const { email } of people) {
      const account = { email, tenantId: to.tenantId };
      expect((await fixture.logIn(account)).status).toBe(200);
      expect((await fixture.logIn(account, `${PASSWORD}!`)).status).toBe(401);
    }
  });

  it('is refused to everybody but an owner in person, and leaves no record then', async () => {
    const before = (await recorded(admin)).length;
    const { tenantId } = admin;
    const { body: key } = await fixture.as(admin).post('/api/v1/api-keys', {
      ...{ name: 'export', scopes: ['users:read', 'users:write'] },
    });
    const client = await application(fixture, admin, {
      ...{ type: 'm2m', redirect_uris: [], roles: ['admin', 'owner'] },
      machine_scopes: ['users:read', 'users:write'],
    });
    const { client_id, client_secret } = client;
    const form = { grant_type: 'client_credentials', client_id, client_secret };
    const { body: machine } = await token(fixture, form);
    const bob = await fixture.register(tenantId);
    const { body: as } = await fixture
      .as(admin)
      .post(`/api/v1/admin/users/${bob.userId}/impersonate`, { reason: 'ticket' });
    const bearers = [
      key.key,
      machine.access_token,
      as.access_token,
      bob.access,
      (await person(['admin'])).access,
    ];
    for (const access of bearers) {
      const answer = await exported({ access, tenantId });
      expect(`${answer.status} ${answer.code}`).toBe('403 forbidden');
    }
    // The same callers may export without hashes, if they may read users.
    for (const bearer of bearers.slice(0, 2)) {
      expect((await fixture.rest.get(EXPORT, { bearer, tenant: tenantId })).status).toBe(200);
    }
    expect((await recorded(admin)).length).toBe(before + 2);
    expect((await fixture.as(admin).get(`${EXPORT}?include=totp_secret`)).status).toBe(400);
  });

  it('is refused to an application that has the roles of the owner, and not the account', async () => {
    const scopes = ['openid', 'roles'];
    const client = await application(fixture, admin, { scopes });
    const of = { client, account: admin, more: { scope: scopes.join(' ') } };
    const { access_token: access } = await authorized(fixture, of);
    const answer = await exported({ access, tenantId: admin.tenantId });
    expect([answer.status, answer.code, answer.body.error.details]).toEqual([
      403,
      'insufficient_scope',
      { scope: 'account' },
    ]);
    expect((await fixture.as({ access, tenantId: admin.tenantId }).get(EXPORT)).status).toBe(200);
  });

  it('is refused once the role was taken, and to a sign-in of eleven minutes ago', async () => {
    const second = await person(['owner', 'admin']);
    expect((await exported(second)).status).toBe(200);
    const path = `/api/v1/admin/users/${second.userId}`;
    expect((await fixture.as(admin).patch(path, { roles: ['admin'] })).status).toBe(200);
    expect((await exported(second)).status).toBe(401);
    const lower = await fixture.signInAgain(second);
    expect((await exported(lower)).code).toBe('forbidden');
    fixture.clock.move(11 * 60_000);
    const late = await exported(admin);
    expect([late.status, late.code]).toEqual([401, 'step_up_required']);
    expect(late.headers.get('www-authenticate')).toContain('max_age="600"');
    expect((await exported(await fixture.signInAgain(admin))).status).toBe(200);
  });
});
