/** An event of the audit log as clients see it (`docs/contract.md` 2.12), and as its table stores it. */
import { named, Time } from '@cardea/contracts';
import Type, { type Static } from 'typebox';
import { ActorType, Category, Result } from './event-filters.ts';

const textOrNull = Type.Union([Type.String(), Type.Null()]);

export const AuditEvent = named(
  'AuditEvent',
  Type.Object({
    id: Type.String({ format: 'uuid' }),
    tenant_id: Type.String(),
    app_id: textOrNull,
    timestamp: Time,
    type: Type.String(),
    category: Category,
    action: Type.String(),
    result: Result,
    actor_type: ActorType,
    actor_id: Type.String(),
    actor_agent_id: textOrNull,
    target_type: Type.String(),
    target_id: textOrNull,
    source_ip: textOrNull,
    source_user_agent: textOrNull,
    source_geo_city: textOrNull,
    source_geo_country: textOrNull,
    details: Type.Object({}, { additionalProperties: true }),
  }),
);
export type AuditEvent = Static<typeof AuditEvent>;

export const COLUMNS = Object.keys(AuditEvent.properties).map((name) => {
  if (name === 'timestamp') return 'ts AS "timestamp"';
  // The driver would parse the JSON only for it to be printed again, so it is read as text.
  return name;
});

export type StoredEvent = Omit<AuditEvent, 'timestamp'> & { readonly timestamp: Date };
