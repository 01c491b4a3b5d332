/**
 * Builds the payload of a webhook from an event on a topic. An event whose personal data was erased is not sent,
 * because it is about no one any more.
 */
import {
  approvalEvents,
  identityEvents,
  vaultEvents,
  type WebhookEvent,
  type WebhookPayload,
} from '@cardea/contracts';
import { meanings } from '@cardea/event-bus';

export type PayloadSource = {
  readonly event: WebhookEvent;
  readonly data: object;
  /** The subject whose key encrypts it. Undefined for the webhook's own key. */
  readonly subject: string | undefined;
};

const told = <Of extends WebhookEvent>(
  event: Of,
  data: WebhookPayload<Of>,
  subject?: string,
): PayloadSource => ({ event, data, subject });

/** The name of the webhook event for an event of this type, if there is one. */
export const webhookEventOf = (type: string): string => type.replace(/^vault\./, '');

type Snapshot = {
  readonly id: string;
  readonly email: string | null;
  readonly display_name: string | null;
  readonly email_verified: boolean;
  readonly created_at: string;
};

/** Returns undefined if nothing is left to send. */
function ofUser(snapshot: Snapshot) {
  const { id, email, display_name, email_verified, created_at } = snapshot;
  if (email === null) return undefined;
  const user = { id, email, display_name, email_verified, created_at };
  return { user, subject: `user:${id}` };
}

type Asked = Omit<WebhookPayload<'approval.requested'>, 'status'>;

const request = (of: Asked, status: string): WebhookPayload<'approval.requested'> => ({
  id: of.id,
  agent_id: of.agent_id,
  agent_name: of.agent_name,
  user_id: of.user_id,
  action: of.action,
  ...(of.resource === undefined ? {} : { resource: of.resource }),
  severity: of.severity,
  ...(of.origin === undefined ? {} : { origin: of.origin }),
  ...(of.user_vouched === undefined ? {} : { user_vouched: of.user_vouched }),
  status,
  created_at: of.created_at,
  expires_at: of.expires_at,
});

export const payloads = meanings<PayloadSource>()(
  'webhooks',
  [identityEvents, approvalEvents, vaultEvents],
  {
    'user.created': ({ data }) => {
      const of = ofUser(data);
      return of && told('user.created', of.user, of.subject);
    },
    'user.login': ({ data }) => {
      const { method, session } = data;
      const of = ofUser(data);
      return of && told('user.login', { ...of.user, method, session }, of.subject);
    },
    'user.password_changed': ({ data }) => {
      const { by, changed_at } = data;
      const of = ofUser(data);
      return of && told('user.password_changed', { ...of.user, by, changed_at }, of.subject);
    },
    'user.email_verified': ({ data }) => {
      const of = ofUser(data);
      const { verified_at } = data;
      return of && told('user.email_verified', { ...of.user, verified_at }, of.subject);
    },
    'user.deleted': ({ data: { id, deleted_at } }) => told('user.deleted', { id, deleted_at }),
    'approval.requested': ({ data }) =>
      data.notify_webhook ? told('approval.requested', request(data, 'pending')) : undefined,
    'approval.approved': ({ data }) => {
      const { responded_at, responded_by } = data;
      return told('approval.approved', {
        ...request(data, 'approved'),
        responded_at,
        responded_by,
      });
    },
    'approval.denied': ({ data }) => {
      const { responded_at, responded_by } = data;
      return told('approval.denied', { ...request(data, 'denied'), responded_at, responded_by });
    },
    'approval.expired': ({ data }) =>
      told('approval.expired', { ...request(data, 'expired'), cause: data.cause }),
    'vault.credential.granted': ({ data }) => {
      const { grant_id, session_id, agent_id, user_id, service_name, fields } = data;
      const { approval_id, granted_at, expires_at } = data;
      const who = { grant_id, session_id, agent_id, user_id };
      const what = { service_name, fields, approval_id, granted_at, expires_at };
      return told('credential.granted', { ...who, ...what });
    },
    // No webhook is notified, because the tenant's own webhooks are deleted when the event arrives.
    'tenant.deleted': () => undefined,
  },
);
