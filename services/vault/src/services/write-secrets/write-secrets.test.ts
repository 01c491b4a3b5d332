import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { type Service, type ServiceRecord, services } from '../service.ts';
import { type WriteSecrets, writeSecrets } from './write-secrets.ts';

const now = new Date('2026-01-01T12:00:00.000Z');
const record = (last_version = 0): ServiceRecord => ({
  id: 'service',
  name: 'db',
  credential_type: 'static',
  description: null,
  fields: ['password', 'user'].map((name) => ({
    name,
    description: null,
    last_version,
    versions: [],
  })),
  default_ttl_seconds: 900,
  max_ttl_seconds: 3600,
  enabled: true,
  reveal: false,
  config_version: 1,
  created_at: now.toISOString(),
  request_hash: null,
});
const registered = {
  type: 'ServiceRegistered',
  data: { service_id: 'service', service_name: 'db', service: record() },
} as const;
const write = (version: number, more: Partial<WriteSecrets> = {}): WriteSecrets => ({
  secrets: [{ name: 'password', version, secret_id: `secret-${version}` }],
  stage: 'current',
  expected: {},
  by: 'admin',
  now,
  ...more,
});
const written = (...writes: readonly WriteSecrets[]): Service =>
  writes.reduce<Service>(
    (state, each) => writeSecrets(each, state).events.reduce(services.evolve, state),
    { status: 'registered', record: record() },
  );
const stagesOf = (service: Service) =>
  service.status === 'registered'
    ? service.record.fields[0]?.versions.map(({ version, stage }) => `${version} ${stage}`)
    : undefined;

describe('secrets', () => {
  it('are current once written, and the version before is previous', () => {
    expect(stagesOf(written(write(1), write(2)))).toEqual(['1 previous', '2 current']);
    expect(stagesOf(written(write(1), write(2, { stage: 'pending' })))).toEqual([
      '1 current',
      '2 pending',
    ]);
  });

  it('vault 16 are refused where another write took the number or the version expected', () => {
    const stands = given(services, registered);
    stands.when((service) => writeSecrets(write(2), service)).refuses('overtaken');
    stands
      .when((service) => writeSecrets(write(1, { expected: { password: 1 } }), service))
      .refuses('version_conflict');
    stands
      .when((service) => writeSecrets(write(1, { expected: { other: 0 } }), service))
      .refuses('unknown_field');
    given(services)
      .when((service) => writeSecrets(write(1), service))
      .refuses('service_not_found');
  });

  it('of several fields are written in one step, whose last event carries the service', () => {
    const secrets = ['password', 'user'].map((name) => ({ name, version: 1, secret_id: name }));
    const { decision } = given(services, registered).when((service) =>
      writeSecrets(write(1, { secrets }), service),
    );
    expect(decision.events.map(({ data }) => data.service === null)).toEqual([true, false]);
  });

  it('destroy the oldest beyond twenty, but never the one in use', () => {
    const pending = Array.from({ length: 20 }, (_, at) => write(at + 2, { stage: 'pending' }));
    const full = written(write(1), ...pending);
    expect(stagesOf(full)?.slice(0, 2)).toEqual(['1 current', '3 pending']);
    expect(stagesOf(full)).toHaveLength(20);
  });
});
