/**
 * A registered service of a tenant: its fields, and which versions of their secrets exist. The last event
 * of each change contains the whole state. Values are never in it, only the ids of their ciphertexts.
 */
import type { Stream } from '@cardea/event-store';

export type Stage = 'pending' | 'current' | 'previous';

export type SecretVersion = {
  readonly version: number;
  readonly secret_id: string;
  readonly stage: Stage;
  readonly created_at: string;
  readonly created_by: string;
};

export type ServiceField = {
  readonly name: string;
  readonly description: string | null;
  /** Number of the newest version, even if that was destroyed; 0 before the first. */
  readonly last_version: number;
  /** Oldest first; destroyed versions are not listed. */
  readonly versions: readonly SecretVersion[];
};

export type ServiceRecord = {
  readonly id: string;
  readonly name: string;
  readonly credential_type: 'static';
  readonly description: string | null;
  readonly fields: readonly ServiceField[];
  readonly default_ttl_seconds: number;
  readonly max_ttl_seconds: number;
  readonly enabled: boolean;
  readonly reveal: boolean;
  /** Rises when a change of configuration changes what is vended. */
  readonly config_version: number;
  readonly created_at: string;
  /** SHA-256 of the registering body, if the request can be repeated. */
  readonly request_hash: string | null;
};

export type Service =
  | { readonly status: 'absent' }
  | { readonly status: 'registered'; readonly record: ServiceRecord }
  | { readonly status: 'deleted'; readonly id: string; readonly name: string };

type About = {
  readonly service_id: string;
  readonly service_name: string;
  /** Null in all events of one change except the last. */
  readonly service: ServiceRecord | null;
};
type OfVersion = About & {
  readonly field: string;
  readonly version: number;
  readonly secret_id: string;
};

export type ServiceRegistered = { readonly type: 'ServiceRegistered'; readonly data: About };
export type ServiceChanged = {
  readonly type: 'ServiceChanged';
  /** Names of the properties that changed. */
  readonly data: About & { readonly changed: readonly string[] };
};
export type SecretVersionWritten = {
  readonly type: 'SecretVersionWritten';
  readonly data: OfVersion & { readonly stage: Stage };
};
export type SecretVersionDestroyed = {
  readonly type: 'SecretVersionDestroyed';
  readonly data: OfVersion;
};
export type ServiceDeleted = { readonly type: 'ServiceDeleted'; readonly data: About };
export type ServiceEvent =
  | ServiceRegistered
  | ServiceChanged
  | SecretVersionWritten
  | SecretVersionDestroyed
  | ServiceDeleted;

export const services: Stream<Service, ServiceEvent> = {
  noun: 'service',
  initial: { status: 'absent' },
  stateCarrying: true,
  evolve: (before, { type, data }) => {
    switch (type) {
      case 'ServiceRegistered':
      case 'ServiceChanged':
      case 'SecretVersionWritten':
      case 'SecretVersionDestroyed':
        return data.service === null ? before : { status: 'registered', record: data.service };
      case 'ServiceDeleted':
        return { status: 'deleted', id: data.service_id, name: data.service_name };
    }
  },
};

/** Versions kept per field; the next one destroys the oldest. */
export const VERSIONS_MAX = 20;

export const aboutService = ({ id, name }: ServiceRecord) => ({
  service_id: id,
  service_name: name,
  service: null,
});

/** The events of one change, the last of which contains the resulting service. */
export function carrying<E extends ServiceEvent>(
  record: ServiceRecord,
  events: readonly E[],
): readonly E[] {
  return events.map((event, index) =>
    index === events.length - 1
      ? ({ ...event, data: { ...event.data, service: record } } as E)
      : event,
  );
}

export const currentOf = ({ versions }: ServiceField): SecretVersion | undefined =>
  versions.find(({ stage }) => stage === 'current');

export const fieldOf = ({ fields }: ServiceRecord, name: string): ServiceField | undefined =>
  fields.find((field) => field.name === name);

/** The events that destroy these versions. */
export const destroying = (
  record: ServiceRecord,
  field: string,
  versions: readonly SecretVersion[],
): readonly SecretVersionDestroyed[] =>
  versions.map(({ version, secret_id }) => ({
    type: 'SecretVersionDestroyed',
    data: { ...aboutService(record), field, version, secret_id },
  }));
