/**
 * A registered service of a tenant: its fields, and which versions of their secrets exist. The last event of each
 * change contains the whole state. It never contains values, only the ids of their ciphertexts.
 */
import type { Stream } from '@cardea/event-store';

export type Stage = 'pending' | 'current' | 'previous';

export type SecretVersion = {
  readonly version: number;
  readonly secret_id: string;
  readonly stage: Stage;
  readonly created_at: string;
  readonly created_by: string;
  /** When it last became current. Null if it never did. */
  readonly promoted_at: string | null;
  /** Rises each time that a version of the field becomes current. Of two versions, the higher was current later. */
  readonly promotion: number | null;
};

export type ServiceField = {
  readonly name: string;
  readonly description: string | null;
  /** The number of the newest version, even if that was destroyed; 0 before the first. */
  readonly last_version: number;
  /** Oldest first. Destroyed versions are not listed. */
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

export type ServiceRegistered = {
  readonly type: 'ServiceRegistered';
  readonly concerns?: 'relay' | 'services';
  readonly data: About;
};
export type ServiceChanged = {
  readonly type: 'ServiceChanged';
  readonly concerns?: 'relay' | 'services';
  /** Names of the properties that changed. */
  readonly data: About & { readonly changed: readonly string[] };
};
export type SecretVersionWritten = {
  readonly type: 'SecretVersionWritten';
  readonly concerns?: 'relay' | 'services';
  readonly data: OfVersion & { readonly stage: Stage };
};
export type SecretVersionDestroyed = {
  readonly type: 'SecretVersionDestroyed';
  readonly data: OfVersion;
};
/** A version became current. `replaced` was current before. */
type CurrentChanged = OfVersion & { readonly replaced: number | null };
export type SecretVersionPromoted = {
  readonly type: 'SecretVersionPromoted';
  readonly concerns?: 'relay' | 'services';
  readonly data: CurrentChanged;
};
/** `version` is current again. `replaced`, which was current, is pending. */
export type SecretRolledBack = {
  readonly type: 'SecretRolledBack';
  readonly concerns?: 'relay' | 'services';
  readonly data: CurrentChanged;
};
/** A person is about to see the value. The event is stored before the value is sent. */
export type SecretRevealed = {
  readonly type: 'SecretRevealed';
  readonly concerns?: 'relay';
  readonly data: OfVersion & { readonly reason: string };
};
export type ServiceDeleted = { readonly type: 'ServiceDeleted'; readonly data: About };
export type ServiceEvent =
  | ServiceRegistered
  | ServiceChanged
  | SecretVersionWritten
  | SecretVersionDestroyed
  | SecretVersionPromoted
  | SecretRolledBack
  | SecretRevealed
  | ServiceDeleted;

/** In version 1 a version could become current only by being written. */
const withPromotions = (data: object) => {
  const { service } = data as About;
  if (service === null) return data as object & { [name: string]: never };
  const fields = service.fields.map((field) => ({
    ...field,
    versions: field.versions.map((each) => {
      const isPromoted = each.stage !== 'pending';
      return {
        ...each,
        promoted_at: isPromoted ? each.created_at : null,
        promotion: isPromoted ? each.version : null,
      };
    }),
  }));
  return { ...data, service: { ...service, fields } };
};

export const services: Stream<Service, ServiceEvent> = {
  noun: 'service',
  initial: { status: 'absent' },
  stateCarrying: true,
  upcasters: {
    ServiceRegistered: [withPromotions],
    ServiceChanged: [withPromotions],
    SecretVersionWritten: [withPromotions],
    SecretVersionDestroyed: [withPromotions],
  },
  evolve: (before, { type, data }) => {
    switch (type) {
      case 'ServiceRegistered':
      case 'ServiceChanged':
      case 'SecretVersionWritten':
      case 'SecretVersionDestroyed':
      case 'SecretVersionPromoted':
      case 'SecretRolledBack':
      case 'SecretRevealed':
        return data.service === null ? before : { status: 'registered', record: data.service };
      case 'ServiceDeleted':
        return { status: 'deleted', id: data.service_id, name: data.service_name };
    }
  },
};

/** Versions kept per field. The next one destroys the oldest. */
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

/** Ids of the ciphertexts that have to be erased after these events. */
export const destroyedBy = (events: readonly ServiceEvent[]): readonly string[] =>
  events.flatMap(({ type, data }) => (type === 'SecretVersionDestroyed' ? [data.secret_id] : []));

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

export const replaceField = (record: ServiceRecord, field: ServiceField): ServiceRecord => ({
  ...record,
  fields: record.fields.map((each) => (each.name === field.name ? field : each)),
});

/**
 * Makes the version current. `replacedStage` is the new stage of the version that was current: `previous`, or
 * `pending` when it is rolled back.
 */
export function makeCurrent(
  field: ServiceField,
  version: number,
  { now, replacedStage }: { readonly now: Date; readonly replacedStage: 'previous' | 'pending' },
): ServiceField {
  const promotion = nextPromotion(field);
  const versions = field.versions.map((each): SecretVersion => {
    if (each.version === version) {
      return { ...each, stage: 'current', promoted_at: now.toISOString(), promotion };
    }
    return each.stage === 'current' ? { ...each, stage: replacedStage } : each;
  });
  return { ...field, versions };
}

export const nextPromotion = ({ versions }: ServiceField): number =>
  1 + Math.max(0, ...versions.map(({ promotion }) => promotion ?? 0));
