import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { APPLICATION_TYPES, type ApplicationEvent, applications } from '../application.ts';
import {
  applicationFault,
  changeApplication,
  createApplication,
  deleteApplication,
  rotateClientSecret,
  rotatePublishableKey,
} from './administer.ts';

const now = new Date('2026-01-01T00:00:00.000Z');
const facts = {
  id: 'app',
  name: 'shop',
  environment: 'production',
  type: 'web',
  publishable_key: 'pk_live_1',
  created_at: now.toISOString(),
  redirect_uris: ['https://shop.example/callback'],
  post_logout_redirect_uris: [],
  backchannel_logout_uri: null,
  backchannel_logout_session_required: false,
  allowed_origins: [],
  grant_types: ['authorization_code', 'refresh_token'],
  scopes: ['openid'],
  first_party: false,
  require_par: false,
  require_pkce: true,
  id_token_signed_response_alg: 'RS256' as const,
  userinfo_signed_response_alg: null,
  dpop_bound_access_tokens: false,
  claims: [],
  branding: {},
  jwks: [],
  roles: [],
  machine_scopes: [],
  secret_hash: 'one',
  request_hash: null,
} as const;
const created: ApplicationEvent = { type: 'ApplicationCreated', data: facts };
const PRODUCTION = { isDevelopment: false, privateOrigins: [] };
const BY = { isHighest: false, machines: 'give', tokensBefore: 7 } as const;
const change = (fields: object) => (application: Parameters<typeof changeApplication>[1]) =>
  changeApplication({ fields, deployment: PRODUCTION, ...BY, isHighest: true }, application);

describe('an application', () => {
  it('is created once', () => {
    given(applications)
      .when((state) => createApplication({ ...facts, isHighest: false, machines: 'give' }, state))
      .accepts(created);
    given(applications, created)
      .when((state) => createApplication({ ...facts, isHighest: false, machines: 'give' }, state))
      .refuses('already_created');
  });

  it('of an earlier release has the choices of that time, as its event was written then', () => {
    const [, second] = applications.upcasters?.['ApplicationCreated'] ?? [];
    const metadata = {} as Parameters<NonNullable<typeof second>>[1];
    expect(second?.({ id: 'app' }, metadata)).toMatchObject({
      id_token_signed_response_alg: 'EdDSA',
      dpop_bound_access_tokens: false,
    });
    const chosen = { id_token_signed_response_alg: 'ES256' };
    expect(second?.(chosen, metadata)).toMatchObject(chosen);
  });

  it('standards 8 P1 with a claim from private_metadata is for the highest role alone, before and after', () => {
    const crm = { name: 'crm', from: 'private_metadata.crm', scope: 'openid' };
    const claims = [{ ...crm, in: ['userinfo'] as const }];
    const reading = { ...facts, claims };
    given(applications)
      .when((state) => createApplication({ ...reading, isHighest: false, machines: 'give' }, state))
      .refuses('forbidden');
    const asAdmin = (fields: object) => (state: Parameters<typeof changeApplication>[1]) =>
      changeApplication({ fields, deployment: PRODUCTION, ...BY }, state);
    given(applications, created).when(asAdmin({ claims })).refuses('forbidden');
    const read: ApplicationEvent = { type: 'ApplicationCreated', data: reading };
    for (const fields of [{ redirect_uris: [] }, { claims: [] }]) {
      given(applications, read).when(asAdmin(fields)).refuses('forbidden');
    }
    const secret = { hash: 'two', graceSeconds: 0, now };
    given(applications, read)
      .when((state) => rotateClientSecret({ ...secret, ...BY }, state))
      .refuses('forbidden');
    given(applications, created)
      .when(asAdmin({ claims: [{ ...crm, from: 'public_metadata.crm', in: ['userinfo'] }] }))
      .accepts({
        type: 'ApplicationChanged',
        data: { id: 'app', claims: [{ ...crm, from: 'public_metadata.crm', in: ['userinfo'] }] },
      });
    given(applications, created)
      .when(change({ claims: [{ ...crm, scope: 'email', in: ['userinfo'] }] }))
      .refuses('invalid_request');
  });

  it('changes only in what differs', () => {
    given(applications, created)
      .when(change({ name: 'store', require_par: false }))
      .accepts({ type: 'ApplicationChanged', data: { id: 'app', name: 'store' } });
    given(applications, created)
      .when(change({ name: 'shop' }))
      .accepts();
    given(applications)
      .when(change({ name: 'store' }))
      .refuses('not_found');
  });

  it('cannot keep the scope of the whole account when it is no longer first party', () => {
    const own: ApplicationEvent = {
      type: 'ApplicationChanged',
      data: { id: 'app', first_party: true, scopes: ['openid', 'account'] },
    };
    given(applications, created, own)
      .when(change({ first_party: false }))
      .refuses('invalid_scope');
    given(applications, created)
      .when(change({ scopes: ['account'] }))
      .refuses('invalid_scope');
  });

  it.each([
    ['first_party', { first_party: true }],
    ['the scope roles', { scopes: ['openid', 'roles'] }],
    ['the scope account', { first_party: true, scopes: ['openid', 'account'] }],
  ] as const)(
    'P1 with %s is made, changed, rotated and deleted by the highest rank alone',
    (_, fields) => {
      const acting = { ...facts, ...fields };
      const made: ApplicationEvent = { type: 'ApplicationCreated', data: acting };
      const by = BY;
      given(applications)
        .when((state) => createApplication({ ...acting, ...by }, state))
        .refuses('forbidden');
      given(applications, created)
        .when((state) => changeApplication({ fields, deployment: PRODUCTION, ...by }, state))
        .refuses('forbidden');
      for (const change of [
        { redirect_uris: ['https://elsewhere.example/'] },
        { allowed_origins: ['https://elsewhere.example'] },
        { jwks: [{ kty: 'OKP' }] },
        { scopes: ['openid'], first_party: false },
      ]) {
        given(applications, made)
          .when((state) =>
            changeApplication({ fields: change, deployment: PRODUCTION, ...by }, state),
          )
          .refuses('forbidden');
      }
      given(applications, made)
        .when((state) => rotateClientSecret({ hash: 'two', graceSeconds: 0, now, ...by }, state))
        .refuses('forbidden');
      given(applications, made)
        .when((state) => deleteApplication({ now, ...by }, state))
        .refuses('forbidden');
    },
  );

  it.each([
    ['m2m', { grant_types: ['authorization_code'] }],
    ['spa', { grant_types: ['client_credentials'] }],
    ['spa', { grant_types: ['refresh_token'] }],
    ['spa', { jwks: [{ kty: 'OKP' }] }],
    ['web', { allowed_origins: ['null'] }],
    ['spa', { require_pkce: false }],
    ['native', { require_pkce: false }],
    ['m2m', { grant_types: ['client_credentials'], redirect_uris: [], require_pkce: false }],
  ] as const)('of type %s cannot have %j', (type, fields) => {
    const whole = { ...facts, ...fields } as Parameters<typeof applicationFault>[1];
    expect(applicationFault(type, whole, PRODUCTION)?.code).toBe('invalid_request');
  });

  it('is on a device where it is native or web, and then needs no redirect [oauth 37]', () => {
    const grant_types = ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'] as const;
    const faultOf = (type: (typeof APPLICATION_TYPES)[number], fields: object = {}) =>
      applicationFault(type, { ...facts, redirect_uris: [], grant_types, ...fields }, PRODUCTION)
        ?.code;
    expect(APPLICATION_TYPES.map((type) => [type, faultOf(type)])).toEqual([
      ['spa', 'invalid_request'],
      ['native', undefined],
      ['web', undefined],
      ['m2m', 'invalid_request'],
    ]);
    // The application has no grant with which a session can start.
    expect(faultOf('native', { grant_types: ['refresh_token'] })).toBe('invalid_request');
  });

  it('oauth 32 has post-logout addresses by the rules of its redirect URIs', () => {
    const uris = ['https://shop.example/bye', 'https://shop.example/*'];
    const whole = { ...facts, post_logout_redirect_uris: uris };
    expect(applicationFault('web', whole, PRODUCTION)).toEqual({
      code: 'invalid_redirect_uri',
      fault: { field: 'post_logout_redirect_uris.1', rule: 'wildcard' },
    });
    const own = { ...facts, post_logout_redirect_uris: ['com.shop:/bye'] };
    expect(applicationFault('native', own, PRODUCTION)).toBeUndefined();
    expect(applicationFault('web', own, PRODUCTION)?.fault?.rule).toBe('scheme');
  });

  it('oauth 22 keeps its old secret and its old key for the grace period, and else not', () => {
    const rotated = (graceSeconds: number) =>
      rotateClientSecret(
        { hash: 'two', graceSeconds, now, ...BY },
        applications.evolve(applications.initial, created),
      );
    expect(rotated(0).events[0]?.data).toMatchObject({ hash: 'two', previous_hash: null });
    expect(rotated(60).events[0]?.data).toMatchObject({
      previous_hash: 'one',
      previous_until: '2026-01-01T00:01:00.000Z',
    });
    given(applications, created)
      .when((state) =>
        rotatePublishableKey({ key: 'pk_live_2', graceSeconds: 60, now, machines: 'take' }, state),
      )
      .accepts({
        type: 'PublishableKeyRotated',
        data: {
          id: 'app',
          publishable_key: 'pk_live_2',
          previous_key: 'pk_live_1',
          previous_until: '2026-01-01T00:01:00.000Z',
        },
      });
  });

  it('that is a public client has no secret to rotate', () => {
    const spa: ApplicationEvent = {
      type: 'ApplicationCreated',
      data: { ...facts, type: 'spa', secret_hash: null },
    };
    given(applications, spa)
      .when((state) => rotateClientSecret({ hash: 'two', graceSeconds: 0, now, ...BY }, state))
      .refuses('no_client_secret');
  });

  it('is deleted once', () => {
    const deleted: ApplicationEvent = {
      type: 'ApplicationDeleted',
      data: { id: 'app', deleted_at: now.toISOString() },
    };
    given(applications, created)
      .when((state) => deleteApplication({ ...BY, now }, state))
      .accepts(deleted);
    given(applications, created, deleted)
      .when((state) => deleteApplication({ ...BY, now }, state))
      .accepts();
    given(applications, created, deleted)
      .when(change({ name: 'store' }))
      .refuses('not_found');
  });
});
