/** The integration event (CloudEvents 1.0): what a service publishes for other services and for subscribers. */
export type ActorType = 'user' | 'agent' | 'system' | 'admin';

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** A part of every integration event's `data`. Fields are null if unknown or erased. */
export type EventContext = {
  readonly ip: string | null;
  readonly user_agent: string | null;
  readonly app_id: string | null;
  /** Set if the caller named `app_id` in a header, so that neither its key nor its session proves it. */
  readonly app_claimed?: true;
  readonly agent_id: string | null;
  readonly request_id: string | null;
};

export type IntegrationEvent<Type extends string = string, Data extends object = JsonObject> = {
  /** The event's id, which equals the private event's, so that a repeat can be recognized. */
  readonly id: string;
  /** The dotted type, e.g. `user.created`. */
  readonly type: Type;
  /** The service that published the event, e.g. `identity`. */
  readonly source: ServiceName;
  readonly time: string;
  readonly tenantId: string;
  /** The stream. Records with the same `tenantId:streamId` keep their order. */
  readonly streamId: string;
  /** The position in the source's log, as a decimal string. It can only be compared, since positions may have gaps. */
  readonly position: string;
  /** The number of this integration event among those of one private event: 1 for the second, and so on. */
  readonly part?: number;
  /**
   * Set if the relay had parked the stream and sent this event later. Its position is older than those of the records
   * next to it.
   */
  readonly released?: true;
  /** A UUID that is new after each restore of the source. Positions of different epochs cannot be compared. */
  readonly logEpoch?: string;
  readonly schemaVersion: number;
  readonly actor: { readonly type: ActorType; readonly id: string };
  readonly correlationId?: string;
  readonly causationId?: string;
  readonly traceparent?: string;
  readonly data: Data & { readonly context: EventContext };
};

/**
 * Each service has one log, one schema and one topic. The name is also that of the log and the stem of the schema's
 * name.
 */
export const SERVICE_NAMES = [
  'identity',
  'authz',
  'vault',
  'approval',
  'webhooks',
  'audit',
] as const;
export type ServiceName = (typeof SERVICE_NAMES)[number];

export const TOPIC_PARTITIONS = 12;
export const topicOf = (service: ServiceName): string => `cardea.${service}.events.v1`;
