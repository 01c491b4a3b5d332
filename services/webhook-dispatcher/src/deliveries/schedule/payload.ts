/**
 * What a webhook is told of an event on a topic. An event that a later erasure has emptied is not told:
 * there is nobody left whom it could be about.
 */
import {
  approvalEvents,
  type IntegrationEvent,
  identityEvents,
  topicOf,
  vaultEvents,
  type WebhookEvent,
  type WebhookPayload,
} from '@cardea/contracts';

export type Told = {
  readonly event: WebhookEvent;
  readonly data: object;
  /** Whose key seals it; undefined = the webhook's own. */
  readonly subject: string | undefined;
};

export const SOURCES = [topicOf('identity'), topicOf('approval'), topicOf('vault')];
export const SOURCE_TYPES = [
  'user.created',
  'user.login',
  'user.password_changed',
  'user.email_verified',
  'user.deleted',
  'approval.requested',
  'approval.approved',
  'approval.denied',
  'approval.expired',
  'vault.credential.granted',
];

export function payloadOf(event: IntegrationEvent): Told | undefined {
  switch (event.source) {
    case 'identity':
      return ofUser(event);
    case 'approval':
      return ofApproval(event);
    case 'vault':
      return ofVault(event);
    default:
      return undefined;
  }
}

const told = <Of extends WebhookEvent>(
  event: Of,
  data: WebhookPayload<Of>,
  subject?: string,
): Told => ({ event, data, subject });

type Snapshot = {
  readonly id: string;
  readonly email: string | null;
  readonly display_name: string | null;
  readonly email_verified: boolean;
  readonly created_at: string;
};

function ofUser(event: IntegrationEvent): Told | undefined {
  const deleted = identityEvents.dataOf(event, 'user.deleted');
  if (deleted !== undefined) {
    return told('user.deleted', { id: deleted.id, deleted_at: deleted.deleted_at });
  }
  const snapshot = event.data as unknown as Snapshot;
  const { id, email, display_name, email_verified, created_at } = snapshot;
  if (email === null) return undefined;
  const user = { id, email, display_name, email_verified, created_at };
  const subject = `user:${id}`;
  if (event.type === 'user.created') return told('user.created', user, subject);
  const login = identityEvents.dataOf(event, 'user.login');
  if (login !== undefined) {
    const { method, session } = login;
    return told('user.login', { ...user, method, session }, subject);
  }
  const password = identityEvents.dataOf(event, 'user.password_changed');
  if (password !== undefined) {
    const { by, changed_at } = password;
    return told('user.password_changed', { ...user, by, changed_at }, subject);
  }
  const verified = identityEvents.dataOf(event, 'user.email_verified');
  if (verified === undefined) return undefined;
  const { verified_at } = verified;
  return told('user.email_verified', { ...user, verified_at }, subject);
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

function ofApproval(event: IntegrationEvent): Told | undefined {
  const requested = approvalEvents.dataOf(event, 'approval.requested');
  if (requested !== undefined) {
    if (!requested.notify_webhook) return undefined;
    return told('approval.requested', request(requested, 'pending'));
  }
  const approved = approvalEvents.dataOf(event, 'approval.approved');
  if (approved !== undefined) {
    const { responded_at, responded_by } = approved;
    const data = { ...request(approved, 'approved'), responded_at, responded_by };
    return told('approval.approved', data);
  }
  const denied = approvalEvents.dataOf(event, 'approval.denied');
  if (denied !== undefined) {
    const { responded_at, responded_by } = denied;
    return told('approval.denied', { ...request(denied, 'denied'), responded_at, responded_by });
  }
  const expired = approvalEvents.dataOf(event, 'approval.expired');
  if (expired === undefined) return undefined;
  return told('approval.expired', { ...request(expired, 'expired'), cause: expired.cause });
}

function ofVault(event: IntegrationEvent): Told | undefined {
  const granted = vaultEvents.dataOf(event, 'vault.credential.granted');
  if (granted === undefined) return undefined;
  const { grant_id, session_id, agent_id, user_id, service_name, fields } = granted;
  const { approval_id, granted_at, expires_at } = granted;
  const who = { grant_id, session_id, agent_id, user_id };
  const what = { service_name, fields, approval_id, granted_at, expires_at };
  return told('credential.granted', { ...who, ...what });
}
