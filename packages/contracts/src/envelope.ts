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

/** Part of the `data` of every integration event. Null where unknown or erased. */
export type EventContext = {
  readonly ip: string | null;
  readonly user_agent: string | null;
  readonly app_id: string | null;
  /** `app_id` was named by the caller in a header, and not by its key or session. */
  readonly app_claimed?: true;
  readonly agent_id: string | null;
  readonly request_id: string | null;
};

export type IntegrationEvent<Type extends string = string, Data extends object = JsonObject> = {
  /** Event id; the same as the private event's, so that a repeat can be recognized. */
  readonly id: string;
  /** Dotted, e.g. `user.created`. */
  readonly type: Type;
  /** The service that published the event, e.g. `identity`. */
  readonly source: ServiceName;
  readonly time: string;
  readonly tenantId: string;
  /** The stream; records with the same `tenantId:streamId` keep their order. */
  readonly streamId: string;
  /** Position in the source's log, as a decimal string. For comparison only: positions may have gaps. */
  readonly position: string;
  /** Counts the integration events of one private event: 1 for the second, and so on. */
  readonly part?: number;
  /**
   * The relay had parked the stream and sent this event later: its position is older than those of the
   * records next to it.
   */
  readonly released?: true;
  /** UUID, new after each restore of the source; positions of different epochs do not compare. */
  readonly logEpoch?: string;
  readonly schemaVersion: number;
  readonly actor: { readonly type: ActorType; readonly id: string };
  readonly correlationId?: string;
  readonly causationId?: string;
  readonly traceparent?: string;
  readonly data: Data & { readonly context: EventContext };
};

/**
 * Each service has one log, one schema and one topic. The name is also that of the log and the root of the
 * schema's name.
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
