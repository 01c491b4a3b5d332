/** Stages of the versions of a secret (`docs/design/vault.md`, Versions). */
import { describe, expect, it } from 'vitest';
import { erasedVersions } from './destroy-erased.ts';
import { destroyVersion } from './destroy-version/destroy-version.ts';
import { promote } from './promote/promote.ts';
import { reveal } from './reveal/reveal.ts';
import { rollBack } from './roll-back/roll-back.ts';
import { type Service, type ServiceEvent, type ServiceRecord, services } from './service.ts';
import { writeSecrets } from './write-secrets/write-secrets.ts';

const NOW = new Date('2026-01-01T12:00:00.000Z');
const record: ServiceRecord = {
  id: 'service',
  name: 'db',
  credential_type: 'static',
  description: null,
  fields: ['password', 'user'].map((name) => ({
    name,
    description: null,
    last_version: 0,
    versions: [],
  })),
  default_ttl_seconds: 900,
  max_ttl_seconds: 3600,
  enabled: true,
  reveal: false,
  config_version: 1,
  created_at: NOW.toISOString(),
  request_hash: null,
};
const fresh: Service = { status: 'registered', record };

type Step = (service: Service) => { readonly events: readonly ServiceEvent[] };
/** All steps happen at the same time, so their order cannot come from the clock. */
const serviceAfter = (...steps: readonly Step[]): Service =>
  steps.reduce<Service>((state, step) => step(state).events.reduce(services.evolve, state), fresh);
const write =
  (version: number, stage: 'current' | 'pending' = 'current', name = 'password'): Step =>
  (service) =>
    writeSecrets(
      {
        secrets: [{ name, version, secret_id: `${name}-${version}` }],
        ...{ stage, expected: {}, by: 'admin', now: NOW },
      },
      service,
    );
const promoting = (versions: { [field: string]: number }, expected = {}) => ({
  versions,
  expected,
  now: NOW,
});
const promoted =
  (version: number): Step =>
  (service) =>
    promote(promoting({ password: version }), service);
const rolledBack: Step = (service) =>
  rollBack({ fields: ['password'], expected: {}, now: NOW }, service);
const stagesOf = (service: Service) =>
  service.status === 'registered'
    ? service.record.fields[0]?.versions.map(({ version, stage }) => `${version} ${stage}`)
    : undefined;
const reasonOf = (decision: object) => ('reason' in decision ? decision.reason : 'accepted');

describe('promoting', () => {
  it('vault 20 makes a pending version current and the current one previous', () => {
    const service = serviceAfter(write(1), write(2, 'pending'), promoted(2));
    expect(stagesOf(service)).toEqual(['1 previous', '2 current']);
  });

  it('vault 20 of a version that is current changes nothing', () => {
    expect(promote(promoting({ password: 1 }), serviceAfter(write(1))).events).toEqual([]);
  });

  it('vault 20 of several fields is one change, whose last event carries the service', () => {
    const both = serviceAfter(write(1, 'pending'), write(1, 'pending', 'user'));
    const decision = promote(promoting({ password: 1, user: 1 }), both);
    expect(decision.events.map(({ data }) => data.service === null)).toEqual([true, false]);
    const half = promote(promoting({ password: 1, user: 2 }), both);
    expect([reasonOf(half), half.events]).toEqual(['version_not_found', []]);
  });

  it.each([
    ['unknown_field', promoting({ other: 1 })],
    ['unknown_field', promoting({ password: 1 }, { other: 0 })],
    ['version_not_found', promoting({ password: 4 })],
    ['version_destroyed', promoting({ password: 1 })],
    ['version_conflict', promoting({ password: 3 }, { password: 3 })],
  ])('vault 20 is refused as %s: %o', (reason, wanted) => {
    const destroyed: Step = (service) => destroyVersion({ field: 'password', version: 1 }, service);
    const service = serviceAfter(write(1), write(2), write(3, 'pending'), destroyed);
    expect(reasonOf(promote(wanted, service))).toBe(reason);
  });
});

describe('rolling back', () => {
  it('vault 20 goes one step further each time, and what it leaves can be promoted again', () => {
    const written = [write(1), write(2), write(3)];
    expect(stagesOf(serviceAfter(...written, rolledBack))).toEqual([
      '1 previous',
      '2 current',
      '3 pending',
    ]);
    expect(stagesOf(serviceAfter(...written, rolledBack, rolledBack))).toEqual([
      '1 current',
      '2 pending',
      '3 pending',
    ]);
    expect(stagesOf(serviceAfter(...written, rolledBack, rolledBack, promoted(3)))).toEqual([
      '1 previous',
      '2 pending',
      '3 current',
    ]);
  });

  it('vault 20 returns to the version that was current last, not to the highest number', () => {
    const service = serviceAfter(
      write(1),
      write(2),
      write(3),
      promoted(1),
      promoted(2),
      rolledBack,
    );
    expect(stagesOf(service)).toEqual(['1 current', '2 pending', '3 previous']);
  });

  it('vault 20 is refused for all fields where one has no previous version', () => {
    const service = serviceAfter(write(1), write(2), write(1, 'current', 'user'));
    const decision = rollBack({ fields: ['password', 'user'], expected: {}, now: NOW }, service);
    expect([reasonOf(decision), decision.events]).toEqual(['nothing_to_roll_back', []]);
  });
});

describe('destroying a version', () => {
  const destroy = (version: number) => (service: Service) =>
    destroyVersion({ field: 'password', version }, service);

  it('vault 20 takes it off the list, and is done once', () => {
    const service = serviceAfter(write(1), write(2), destroy(1));
    expect(stagesOf(service)).toEqual(['2 current']);
    expect(destroy(1)(service)).toMatchObject({ accepted: true, events: [] });
  });

  it('vault 20 is refused for the current version, and for one that never was', () => {
    expect(reasonOf(destroy(1)(serviceAfter(write(1))))).toBe('version_in_use');
    expect(reasonOf(destroy(2)(serviceAfter(write(1))))).toBe('version_not_found');
  });
});

describe('a restored log', () => {
  it('loses the versions whose ciphertext is erased, the current one too', () => {
    const service = serviceAfter(write(1), write(2));
    const decision = erasedVersions(service, new Set(['password-2']));
    expect(decision.events.map(({ data }) => data.version)).toEqual([2]);
    const state = decision.events.reduce(services.evolve, service);
    expect(stagesOf(state)).toEqual(['1 previous']);
    expect(stagesOf(rolledBack(state).events.reduce(services.evolve, state))).toEqual([
      '1 current',
    ]);
  });
});

describe('revealing', () => {
  const revealable: Service = { status: 'registered', record: { ...record, reveal: true } };
  const set = write(1)(revealable).events.reduce(services.evolve, revealable);
  const wanted = { field: 'password', version: undefined, reason: 'the vendor asked' };

  it('vault 22 records the version and the reason, and changes nothing', () => {
    const decision = reveal(wanted, set);
    expect(decision.events).toMatchObject([
      { type: 'SecretRevealed', data: { version: 1, reason: 'the vendor asked' } },
    ]);
    expect(decision.events.reduce(services.evolve, set)).toEqual(set);
  });

  it.each([
    ['reveal_disabled', wanted, fresh],
    ['secret_not_set', wanted, revealable],
    ['unknown_field', { ...wanted, field: 'other' }, set],
    ['version_not_found', { ...wanted, version: 2 }, set],
  ] as const)('vault 22 is refused as %s', (reason, asked, service) => {
    expect(reasonOf(reveal(asked, service))).toBe(reason);
  });
});

describe('a version from before versions could be promoted', () => {
  it('vault 20 was promoted when it was written, unless it is pending', () => {
    const upcast = services.upcasters?.SecretVersionWritten?.[0];
    const old = { version: 1, secret_id: 's', stage: 'previous', created_at: 'then' };
    const data = { service: { ...record, fields: [{ name: 'password', versions: [old] }] } };
    const read = upcast?.(data as never, {} as never) as unknown as typeof data;
    expect(read.service.fields[0]?.versions).toEqual([
      { ...old, promoted_at: 'then', promotion: 1 },
    ]);
  });
});
