/**
 * The payloads of webhooks: for each event its meaning and the closed schema of `data`. The body is
 * `{"event", "timestamp", "data"}` (`docs/contract.md` 6.1).
 */
import Type, { type Static, type TObject, type TSchema } from 'typebox';
import { nullable } from '../fields.ts';
import { loginSession } from './identity-users.ts';

const closed = <Properties extends Record<string, TSchema>>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });
const text = Type.String();
const moment = Type.String({ format: 'date-time' });

const user = {
  id: text,
  email: text,
  display_name: nullable(text),
  email_verified: Type.Boolean(),
  created_at: moment,
};

const approval = {
  id: text,
  agent_id: text,
  agent_name: text,
  user_id: text,
  action: text,
  resource: Type.Optional(text),
  severity: text,
  origin: Type.Optional(text),
  user_vouched: Type.Optional(Type.Boolean()),
  status: text,
  created_at: moment,
  expires_at: moment,
};
const answered = { responded_at: moment, responded_by: text };

export const webhookPayloads = {
  'user.created': {
    description: 'A new account was made.',
    schema: closed(user),
  },
  'user.login': {
    description: 'A user has signed in.',
    schema: closed({ ...user, method: text, session: nullable(loginSession) }),
  },
  'user.password_changed': {
    description: 'The password of a user is another one now.',
    schema: closed({ ...user, by: text, changed_at: moment }),
  },
  'user.email_verified': {
    description: 'A user has shown that the address is theirs.',
    schema: closed({ ...user, verified_at: moment }),
  },
  'user.deleted': {
    description: 'An account was deleted; nothing but its id is left.',
    schema: closed({ id: text, deleted_at: moment }),
  },
  'webhook.test': {
    description: 'Someone has asked for a test of this webhook.',
    schema: closed({ test: Type.Literal(true), message: text, webhook: text, triggered: moment }),
  },
  'approval.requested': {
    description: 'An agent asks for an approval.',
    schema: closed(approval),
  },
  'approval.approved': {
    description: 'A request for approval was approved.',
    schema: closed({ ...approval, ...answered }),
  },
  'approval.denied': {
    description: 'A request for approval was denied.',
    schema: closed({ ...approval, ...answered }),
  },
  'approval.expired': {
    description: 'Nobody has answered a request for approval in time.',
    schema: closed({ ...approval, cause: text }),
  },
  'credential.granted': {
    description: 'An agent was given credentials of a service; their values are never sent.',
    schema: closed({
      grant_id: text,
      session_id: text,
      agent_id: text,
      user_id: nullable(text),
      service_name: text,
      fields: Type.Array(text),
      approval_id: nullable(text),
      granted_at: moment,
      expires_at: moment,
    }),
  },
} as const satisfies {
  readonly [event: string]: { readonly description: string; readonly schema: TObject };
};

export type WebhookEvent = keyof typeof webhookPayloads;
export type WebhookPayload<Of extends WebhookEvent> = Static<
  (typeof webhookPayloads)[Of]['schema']
>;
