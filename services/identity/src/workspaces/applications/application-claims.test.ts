import { describe, expect, it } from 'vitest';
import { claimsFault, readClaims, readsPrivateMetadata } from './application-claims.ts';

const scopes = ['openid', 'profile', 'email'];
const faultOf = (...claims: Parameters<typeof readClaims>[0]) =>
  claimsFault(readClaims(claims), { isMachine: false, scopes });
const named = (name: string) => faultOf({ name, from: 'locale' });
const made = (from: string) => faultOf({ name: 'it', from });

describe('standards 8 a claim of an application', () => {
  it('goes into the id_token and userinfo with the profile, unless its administrator says otherwise', () => {
    expect(readClaims([{ name: 'plan', from: 'public_metadata.plan' }])).toEqual([
      {
        name: 'plan',
        from: 'public_metadata.plan',
        scope: 'profile',
        in: ['id_token', 'userinfo'],
      },
    ]);
  });

  it.each([
    ...['sub', 'aud', 'exp', 'iat', 'jti', 'iss', 'nbf'],
    ...['name', 'email', 'email_verified', 'locale', 'picture', 'updated_at', 'nonce', 'azp'],
    ...['auth_time', 'amr', 'acr', 'at_hash', 'sid', 'address', 'phone_number', 'birthdate'],
    ...['tid', 'tenant_id', 'org_id', 'roles', 'scope', 'client_id', 'act', 'cnf', 'events'],
    ...['agent_id', 'agent_session_id', 'app_id', 'cap', 'asid', 'ver', 'purpose', 'pjti', 'flow'],
    ...['Sub', 'ROLES', 'Email_Verified', '__proto__', 'constructor', 'plan_overage'],
  ])('cannot be called %s', (name) => {
    expect(named(name)).toEqual({ field: 'claims.0.name', rule: 'reserved_name' });
  });

  it.each(['', '1st', 'a b', 'größe', 'x'.repeat(65), 'a"b', 'a\nb'])(
    'has a name that every library can read, unlike %j',
    (name) => {
      expect(named(name)?.rule).toBe('pattern');
    },
  );

  it.each([
    'groups',
    'plan',
    'https://example.com/claims/plan',
    '_x',
    'x'.repeat(64),
    'realm.roles',
  ])('can be called %s', (name) => {
    expect(named(name)).toBeUndefined();
  });

  it.each([
    ...['roles', 'locale', 'tenant.slug', 'public_metadata.plan', 'private_metadata.a.b.c.d.e'],
    ...['public_metadata.größe', 'public_metadata.with space'],
  ])('can be made from %s', (from) => {
    expect(made(from)).toBeUndefined();
  });

  it.each([
    ['groups', 'groups_unavailable'],
    ['public_metadata', 'unknown_source'],
    ['public_metadata.', 'unknown_source'],
    ['public_metadata.a..b', 'unknown_source'],
    ['public_metadata.a.b.c.d.e.f', 'unknown_source'],
    ['public_metadata.__proto__', 'unknown_source'],
    ['private_metadata.a.constructor.name', 'unknown_source'],
    ['metadata.a', 'unknown_source'],
    ['email', 'unknown_source'],
    ['tenant.id', 'unknown_source'],
  ])('cannot be made from %s', (from, rule) => {
    expect(made(from)).toEqual({ field: 'claims.0.from', rule });
  });

  it('has a name of its own and a scope of its application, and the application has users', () => {
    const one = { name: 'plan', from: 'locale' };
    expect(faultOf(one, one)).toEqual({ field: 'claims.1.name', rule: 'unique' });
    expect(faultOf({ ...one, scope: 'read' })).toEqual({
      field: 'claims.0.scope',
      rule: 'enum',
      allowed: scopes,
    });
    const machine = { isMachine: true, scopes };
    expect(claimsFault(readClaims([one]), machine)?.rule).toBe('not_m2m');
    expect(claimsFault([], machine)).toBeUndefined();
  });

  it('reads what people never see from private_metadata alone', () => {
    const reads = (from: string) => readsPrivateMetadata(readClaims([{ name: 'it', from }]));
    expect(reads('private_metadata.crm')).toBe(true);
    expect([reads('public_metadata.private_metadata'), reads('roles')]).toEqual([false, false]);
  });
});
