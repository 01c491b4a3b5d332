import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { type Change, change } from './change/change.ts';
import { deleteService } from './delete/delete.ts';
import { type Register, register } from './register/register.ts';
import { type ServiceEvent, type ServiceRecord, services } from './service.ts';

const now = new Date('2026-01-01T12:00:00.000Z');
const wanted: Register = {
  id: 'service',
  name: 'db',
  credential_type: 'static',
  description: null,
  fields: [
    { name: 'password', description: null },
    { name: 'user', description: 'who signs in' },
  ],
  default_ttl_seconds: 900,
  max_ttl_seconds: 3600,
  enabled: true,
  reveal: false,
  request_hash: null,
  now,
};
const { now: _now, ...plain } = wanted;
const record: ServiceRecord = {
  ...plain,
  fields: wanted.fields.map((field) => ({ ...field, last_version: 0, versions: [] })),
  config_version: 1,
  created_at: now.toISOString(),
};
const about = { service_id: 'service', service_name: 'db' };
const registered: ServiceEvent = {
  type: 'ServiceRegistered',
  data: { ...about, service: record },
};
const deleted: ServiceEvent = { type: 'ServiceDeleted', data: { ...about, service: null } };
const written: ServiceEvent = {
  type: 'SecretVersionWritten',
  data: {
    ...about,
    field: 'user',
    version: 1,
    secret_id: 'secret',
    stage: 'current',
    service: {
      ...record,
      fields: record.fields.map((field) =>
        field.name === 'user'
          ? {
              ...field,
              last_version: 1,
              versions: [
                {
                  version: 1,
                  secret_id: 'secret',
                  stage: 'current',
                  created_at: now.toISOString(),
                  created_by: 'admin',
                  promoted_at: now.toISOString(),
                  promotion: 1,
                },
              ],
            }
          : field,
      ),
    },
  },
};

describe('registering a service', () => {
  it('makes it with fields that hold nothing yet', () => {
    given(services)
      .when((service) => register(wanted, service))
      .accepts(registered);
  });

  it('leaves one alone that is there, or was', () => {
    for (const history of [[registered], [registered, deleted]]) {
      given(services, ...history)
        .when((service) => register({ ...wanted, description: 'another' }, service))
        .accepts();
    }
  });
});

describe('changing a service', () => {
  const changed = (more: Change) => given(services, registered).when((s) => change(more, s));

  it('names what is another, and carries the service after it', () => {
    changed({ enabled: false, max_ttl_seconds: 3600 }).accepts({
      type: 'ServiceChanged',
      data: { ...about, service: { ...record, enabled: false }, changed: ['enabled'] },
    });
  });

  it('says nothing where all is as it was', () => {
    changed({ enabled: true, fields: [{ name: 'password' }, { name: 'user' }] }).accepts();
  });

  it('keeps the description of a field that is named without one, and takes null for none', () => {
    const { state } = changed({ fields: [{ name: 'user' }, { name: 'token' }] });
    expect(state).toMatchObject({
      record: {
        fields: [
          { name: 'user', description: 'who signs in' },
          { name: 'token', description: null },
        ],
      },
    });
    const none = changed({ fields: [{ name: 'password' }, { name: 'user', description: null }] });
    expect(none.decision.events).toMatchObject([{ data: { changed: ['fields'] } }]);
  });

  it('destroys every version of a field that goes', () => {
    const { decision } = given(services, registered, written).when((service) =>
      change({ fields: [{ name: 'password' }] }, service),
    );
    expect(decision.events).toMatchObject([
      { type: 'SecretVersionDestroyed', data: { secret_id: 'secret', service: null } },
      { type: 'ServiceChanged', data: { changed: ['fields'] } },
    ]);
  });

  it('is refused where the default would last longer than the most', () => {
    changed({ max_ttl_seconds: 600 }).refuses('invalid_request');
  });

  it('is refused where there is none any more', () => {
    given(services, registered, deleted)
      .when((service) => change({ enabled: false }, service))
      .refuses('service_not_found');
  });
});

describe('deleting a service', () => {
  it('is done once', () => {
    given(services, registered).when(deleteService).accepts(deleted);
    given(services, registered, deleted).when(deleteService).refuses('service_not_found');
    given(services).when(deleteService).refuses('service_not_found');
  });
});
