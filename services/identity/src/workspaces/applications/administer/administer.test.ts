import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { type ApplicationEvent, applications } from '../application.ts';
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
  allowed_origins: [],
  grant_types: ['authorization_code', 'refresh_token'],
  scopes: ['openid'],
  first_party: false,
  require_par: false,
  branding: {},
  jwks: [],
  secret_hash: 'one',
  request_hash: null,
} as const;
const created: ApplicationEvent = { type: 'ApplicationCreated', data: facts };
const change = (fields: object) => (application: Parameters<typeof changeApplication>[1]) =>
  changeApplication({ fields, isDevelopment: false }, application);

describe('an application', () => {
  it('is created once', () => {
    given(applications)
      .when((state) => createApplication(facts, state))
      .accepts(created);
    given(applications, created)
      .when((state) => createApplication(facts, state))
      .refuses('already_created');
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
    ['m2m', { grant_types: ['authorization_code'] }],
    ['spa', { grant_types: ['client_credentials'] }],
    ['spa', { grant_types: ['refresh_token'] }],
    ['spa', { jwks: [{ kty: 'OKP' }] }],
    ['web', { allowed_origins: ['null'] }],
  ] as const)('of type %s cannot have %j', (type, fields) => {
    const whole = { ...facts, ...fields } as Parameters<typeof applicationFault>[1];
    expect(applicationFault(type, whole, false)).toBe('invalid_request');
  });

  it('oauth 22 keeps its old secret and its old key for the grace period, and else not', () => {
    const rotated = (graceSeconds: number) =>
      rotateClientSecret(
        { hash: 'two', graceSeconds, now },
        applications.evolve(applications.initial, created),
      );
    expect(rotated(0).events[0]?.data).toMatchObject({ hash: 'two', previous_hash: null });
    expect(rotated(60).events[0]?.data).toMatchObject({
      previous_hash: 'one',
      previous_until: '2026-01-01T00:01:00.000Z',
    });
    given(applications, created)
      .when((state) => rotatePublishableKey({ key: 'pk_live_2', graceSeconds: 60, now }, state))
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
      .when((state) => rotateClientSecret({ hash: 'two', graceSeconds: 0, now }, state))
      .refuses('no_client_secret');
  });

  it('is deleted once', () => {
    const deleted: ApplicationEvent = {
      type: 'ApplicationDeleted',
      data: { id: 'app', deleted_at: now.toISOString() },
    };
    given(applications, created)
      .when((state) => deleteApplication(now, state))
      .accepts(deleted);
    given(applications, created, deleted)
      .when((state) => deleteApplication(now, state))
      .accepts();
    given(applications, created, deleted)
      .when(change({ name: 'store' }))
      .refuses('not_found');
  });
});
