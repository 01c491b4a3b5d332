/** What vault hands over when a policy asks for a person's decision, and the facts made of it. */
import Type, { type Static } from 'typebox';
import {
  COOL_DOWN_MS,
  type RequestFacts,
  SEVERITIES,
  TTL_SECONDS_MAX,
  VEND_ACTION,
} from '../../requests/requests.module.ts';

const text = Type.String({ minLength: 1 });
const optional = <Of extends Type.TSchema>(schema: Of) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

/** Where vault's own caller came from; sealed anew under this service's keys. */
export const openContext = Type.Object({
  ip: optional(Type.String()),
  user_agent: optional(Type.String()),
  app_id: optional(Type.String()),
  app_claimed: optional(Type.Literal(true)),
  agent_id: optional(Type.String()),
  request_id: optional(Type.String()),
  traceparent: optional(Type.String()),
});

export const openInput = Type.Object({
  command_id: text,
  tenant_id: text,
  app_id: optional(text),
  digest: text,
  agent_id: text,
  session_id: text,
  user_id: text,
  service_name: text,
  fields: Type.Array(text, { minItems: 1 }),
  policies: Type.Array(Type.Object({ id: text, version: Type.Integer() })),
  severity: Type.Enum(SEVERITIES),
  ttl_seconds: Type.Integer({ minimum: 1, maximum: TTL_SECONDS_MAX }),
  use_window_seconds: Type.Integer({ minimum: 1 }),
  grant_ttl_seconds: Type.Integer({ minimum: 1 }),
  max_auth_age_seconds: optional(Type.Integer({ minimum: 0 })),
  number_match: Type.Boolean(),
  vouch_required: optional(Type.Boolean()),
  purpose: optional(Type.String()),
  context: Type.Optional(openContext),
});
export type Open = Static<typeof openInput>;

/** Until when the queue keeps the entry: a vend may use it, or be cooling down, for so long. */
export const entryUntil = (open: Pick<Open, 'use_window_seconds'>, expiresAt: string): string =>
  new Date(
    Date.parse(expiresAt) + Math.max(open.use_window_seconds * 1000, COOL_DOWN_MS),
  ).toISOString();

export function vendFacts(
  open: Open,
  of: {
    readonly id: string;
    readonly agentName: string;
    readonly userVouched: boolean;
    readonly channels: readonly string[];
    readonly reason: NonNullable<RequestFacts['reason']>;
    readonly code: NonNullable<RequestFacts['binding']>['code'];
  },
  now: Date,
): RequestFacts {
  const maxAge = open.max_auth_age_seconds;
  return {
    id: of.id,
    tenant_id: open.tenant_id,
    ...(open.app_id === undefined || open.app_id === null ? {} : { app_id: open.app_id }),
    agent_id: open.agent_id,
    agent_name: of.agentName,
    user_id: open.user_id,
    action: VEND_ACTION,
    resource: open.service_name,
    reason: of.reason,
    severity: open.severity,
    ttl_seconds: open.ttl_seconds,
    created_at: now.toISOString(),
    expires_at: new Date(now.getTime() + open.ttl_seconds * 1000).toISOString(),
    origin: 'vend',
    user_vouched: of.userVouched,
    channels: of.channels,
    binding: {
      digest: open.digest,
      session_id: open.session_id,
      service_name: open.service_name,
      fields: open.fields,
      policies: open.policies.map(({ id, version }) => ({ id, version })),
      use_window_seconds: open.use_window_seconds,
      ...(maxAge === undefined || maxAge === null ? {} : { max_auth_age_seconds: maxAge }),
      number_match: open.number_match,
      ...(open.vouch_required === true ? { vouch_required: true } : {}),
      code: of.code,
    },
  };
}
