/** The integration event: what one service tells the others and the world (CloudEvents 1.0). */
export type ActorType = 'user' | 'agent' | 'system' | 'admin';

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** Stands in the `data` of every integration event. Null where unknown or erased. */
export type EventContext = {
  readonly ip: string | null;
  readonly user_agent: string | null;
  readonly app_id: string | null;
  /** `app_id` is the caller's own word. */
  readonly app_claimed?: true;
  readonly agent_id: string | null;
  readonly request_id: string | null;
};

export type IntegrationEvent<Type extends string = string, Data extends object = JsonObject> = {
  /** Event id; the same as the private event's, so that a repeat can be told. */
  readonly id: string;
  /** Dotted, e.g. `user.created`. */
  readonly type: Type;
  /** The service that owns the fact, e.g. `identity`. */
  readonly source: ServiceName;
  readonly time: string;
  readonly tenantId: string;
  /** The stream; records of one `tenantId:streamId` keep their order. */
  readonly streamId: string;
  /** Position in the source's log, as a decimal string. Only compared, never counted with. */
  readonly position: string;
  /** Where one private event was published as several: 1 for the second, and so on. */
  readonly part?: number;
  /** Held back by the relay for a while and sent now: its position is older than its neighbours'. */
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

/** One log, one schema, one topic each. The word is also the event store's log and the Postgres schema's root. */
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
