import { BOOTSTRAP_TENANT_ID, MACHINE_SCOPES } from '@cardea/contracts';
import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import {
  changeApplication,
  createApplication,
  deleteApplication,
  rotateClientSecret,
  rotatePublishableKey,
} from './administer/administer.ts';
import { type ApplicationEvent, type ApplicationFields, applications } from './application.ts';
import { isMachineRole, isMachineScopeIn, type MachineRights } from './machine-power.ts';

const now = new Date('2026-01-01T00:00:00.000Z');
type Facts = Extract<ApplicationEvent, { type: 'ApplicationCreated' }>['data'];
const facts: Facts = {
  id: 'ci',
  name: 'CI',
  environment: 'production',
  type: 'm2m',
  publishable_key: 'pk_live_1',
  created_at: now.toISOString(),
  redirect_uris: [],
  post_logout_redirect_uris: [],
  backchannel_logout_uri: null,
  backchannel_logout_session_required: false,
  allowed_origins: [],
  grant_types: ['client_credentials'],
  scopes: [],
  first_party: false,
  require_par: false,
  require_pkce: true,
  id_token_signed_response_alg: 'EdDSA',
  userinfo_signed_response_alg: null,
  dpop_bound_access_tokens: false,
  claims: [],
  branding: {},
  jwks: [],
  roles: [],
  machine_scopes: [],
  secret_hash: 'one',
  request_hash: null,
};
const bare: ApplicationEvent = { type: 'ApplicationCreated', data: facts };
const power: Facts = { ...facts, roles: ['admin'], machine_scopes: ['users:read'] };
const powerful: ApplicationEvent = { type: 'ApplicationCreated', data: power };
const TOKENS_BEFORE = 7;
const by = (machines: MachineRights) =>
  ({ isHighest: false, machines, tokensBefore: TOKENS_BEFORE, now }) as const;
const change = (
  made: ApplicationEvent,
  fields: Partial<ApplicationFields>,
  machines: MachineRights,
) =>
  given(applications, made).when((state) =>
    changeApplication({ fields, deployment: PRODUCTION, ...by(machines) }, state),
  );

const PRODUCTION = { isDevelopment: false, privateOrigins: [] };
/** The key of RFC 8037, appendix A.2. */
const KEY = {
  kty: 'OKP',
  crv: 'Ed25519',
  x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
} as const;
const GIVING: readonly (readonly [string, Partial<ApplicationFields>])[] = [
  ['a role', { roles: ['admin', 'owner'] }],
  ['a scope', { machine_scopes: ['users:read', 'users:write'] }],
  ['another scope for one', { machine_scopes: ['users:write'] }],
  ['a key', { jwks: [KEY] }],
];
const TAKING: readonly (readonly [string, Partial<ApplicationFields>])[] = [
  ['a role', { roles: [] }],
  ['a scope', { machine_scopes: [] }],
];

describe('a machine', () => {
  it.each(GIVING)('standards 1 P1 gets %s from an owner in person alone', (_what, fields) => {
    for (const machines of ['none', 'take'] as const) {
      change(powerful, fields, machines).refuses('not_owner');
    }
    expect(accepted(powerful, fields, 'give')).toMatchObject(fields);
  });

  it('standards 1 P1 gets its first role or scope from an owner in person alone', () => {
    for (const fields of [{ roles: ['admin'] }, { machine_scopes: ['vault:grant'] }] as const) {
      for (const machines of ['none', 'take'] as const) {
        change(bare, fields, machines).refuses('not_owner');
        given(applications)
          .when((state) => createApplication({ ...facts, ...fields, ...by(machines) }, state))
          .refuses('not_owner');
      }
      expect(accepted(bare, fields, 'give')).toMatchObject(fields);
    }
  });

  it.each(TAKING)('standards 1 loses %s by any administrator, with its tokens', (_what, fields) => {
    change(powerful, fields, 'none').refuses('not_owner');
    change(powerful, fields, 'take').accepts({
      type: 'ApplicationChanged',
      data: { id: 'ci', ...fields, tokens_before: TOKENS_BEFORE },
    });
  });

  it('standards 1 keeps its tokens where it is given more, or is renamed', () => {
    for (const fields of [{ roles: ['admin', 'owner'] }, { name: 'CI 2' }]) {
      expect(accepted(powerful, fields, 'give')).not.toHaveProperty('tokens_before');
    }
  });

  it('standards 1 without its key is proven by its secret again, which is a new one', () => {
    const keyed: ApplicationEvent = {
      type: 'ApplicationCreated',
      data: { ...power, jwks: [{ kty: 'OKP' }] },
    };
    change(keyed, { jwks: [] }, 'take').refuses('not_owner');
    expect(accepted(keyed, { jwks: [] }, 'give')).toMatchObject({ tokens_before: TOKENS_BEFORE });
  });

  it('standards 1 gets a new secret from an owner, and without grace its tokens end', () => {
    const rotate = (machines: MachineRights, graceSeconds: number) =>
      rotateClientSecret(
        { hash: 'two', graceSeconds, ...by(machines) },
        applications.evolve(applications.initial, powerful),
      );
    for (const machines of ['none', 'take'] as const) {
      expect(rotate(machines, 0)).toMatchObject({ accepted: false, reason: 'not_owner' });
    }
    expect(rotate('give', 0).events[0]?.data).toMatchObject({ tokens_before: TOKENS_BEFORE });
    expect(rotate('give', 60).events[0]?.data).not.toHaveProperty('tokens_before');
  });

  it('standards 1 never touches a machine that holds anything, nor an application that acts for people', () => {
    const acting: ApplicationEvent = {
      type: 'ApplicationCreated',
      data: { ...facts, type: 'web', first_party: true, grant_types: ['authorization_code'] },
    };
    for (const made of [powerful, acting]) {
      const refused = made === acting ? 'forbidden' : 'not_owner';
      change(made, { name: 'mine' }, 'none').refuses(refused);
      given(applications, made)
        .when((state) => rotateClientSecret({ hash: 'x', graceSeconds: 0, ...by('none') }, state))
        .refuses(refused);
      given(applications, made)
        .when((state) => rotatePublishableKey({ key: 'x', graceSeconds: 0, ...by('none') }, state))
        .refuses('not_owner');
      given(applications, made)
        .when((state) => deleteApplication(by('none'), state))
        .refuses(refused);
    }
    change(bare, { name: 'CI 2' }, 'none').accepts({
      type: 'ApplicationChanged',
      data: { id: 'ci', name: 'CI 2' },
    });
  });

  it('standards 1 never is a system administrator, nor decides how people of the deployment sign in', () => {
    const tenant = { settings: { roles: ['billing'] } };
    const allowed = ['admin', 'owner', 'billing', 'system_admin', 'member', 'pope'].filter((role) =>
      isMachineRole(tenant, role),
    );
    expect(allowed).toEqual(['admin', 'owner', 'billing']);
    const refused = MACHINE_SCOPES.filter((scope) => !isMachineScopeIn(BOOTSTRAP_TENANT_ID, scope));
    expect(refused).toEqual([
      ...['settings:read', 'settings:write', 'providers:read', 'providers:write'],
    ]);
    expect(MACHINE_SCOPES.every((scope) => isMachineScopeIn('t1', scope))).toBe(true);
  });

  it('standards 1 of an earlier release holds nothing, whatever its scopes were called', () => {
    const [, , third] = applications.upcasters?.['ApplicationCreated'] ?? [];
    const metadata = {} as Parameters<NonNullable<typeof third>>[1];
    expect(third?.({ id: 'ci', scopes: ['users:write'] }, metadata)).toMatchObject({
      ...{ id: 'ci', scopes: ['users:write'], roles: [], machine_scopes: [] },
    });
  });

  it.each(['spa', 'web', 'native'] as const)('standards 1 is no application of type %s', (type) => {
    const data: Facts = { ...facts, type, grant_types: ['authorization_code'] };
    const made: ApplicationEvent = { type: 'ApplicationCreated', data };
    change(made, { roles: ['admin'] }, 'give').refuses('invalid_request');
    change(made, { machine_scopes: ['users:read'] }, 'give').refuses('invalid_request');
  });
});

function accepted(
  made: ApplicationEvent,
  fields: Partial<ApplicationFields>,
  machines: MachineRights,
): object | undefined {
  const state = applications.evolve(applications.initial, made);
  const decided = changeApplication({ fields, deployment: PRODUCTION, ...by(machines) }, state);
  return decided.events[0]?.data;
}
