/**
 * What identity tells the others: accounts, sessions, tenants, keys, agents and what they did
 * (`design/identity.md` section 14). Whatever is sealed in its own log is null here once erased.
 */
import Type, { type TSchema } from 'typebox';
import { actionDenied } from './action-denied.ts';
import { type DataOf, integrationEvents, nullable } from './integration-event.ts';

const closed = <Properties extends Record<string, TSchema>>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });
const text = Type.String();
const texts = Type.Array(Type.String());
const moment = Type.String();

export const USER_STATUSES = ['active', 'invited', 'disabled', 'locked'] as const;
export type UserStatus = (typeof USER_STATUSES)[number];
const userStatus = Type.Enum(USER_STATUSES);

/** The person as every `user.*` event shows it; e-mail and name are null once erased. */
export const userSnapshot = {
  id: text,
  email: nullable(text),
  display_name: nullable(text),
  email_verified: Type.Boolean(),
  roles: texts,
  status: userStatus,
  created_at: moment,
};

/** `spec.md` 2.3 without `current`. Addresses are null once erased; `location` is absent without geo data. */
export const loginSession = closed({
  id: text,
  family_id: text,
  ip_address: nullable(text),
  user_agent: nullable(text),
  browser: text,
  browser_version: text,
  os: text,
  os_version: text,
  device_type: nullable(text),
  location: Type.Optional(
    closed({
      city: Type.Optional(text),
      region: Type.Optional(text),
      country: Type.Optional(text),
    }),
  ),
  started_at: moment,
  last_active_at: moment,
  expires_at: moment,
});

/** What an agent, a delegation or an agent session may reach: fields of one registered service. */
export const serviceGrant = closed({ service_name: text, fields: texts });
const services = Type.Array(serviceGrant);

export const USER_CREATED_VIA = [
  'register',
  'signup',
  'admin',
  'import',
  'bootstrap',
  'social',
  'invitation',
] as const;
export type UserCreatedVia = (typeof USER_CREATED_VIA)[number];

/** Why mail was asked for. `notice` tells the holder of an address what happened to it. */
export const MAIL_PURPOSES = [
  'verify',
  'reset',
  'magic_link',
  'otp',
  'invitation',
  'notice',
] as const;
export type MailPurpose = (typeof MAIL_PURPOSES)[number];

const organization = {
  id: text,
  name: text,
  audit_retention_days: Type.Integer(),
  created_at: moment,
};
const tenant = {
  id: text,
  organization_id: text,
  name: text,
  slug: text,
  display_name: text,
  environment: text,
  approval_channels: texts,
  created_at: moment,
};
const application = {
  id: text,
  name: text,
  environment: text,
  type: text,
  publishable_key: text,
  created_at: moment,
};
const apiKey = {
  id: text,
  name: text,
  scopes: texts,
  environment: text,
  app_id: nullable(text),
  created_by: nullable(text),
  created_at: moment,
  expires_at: nullable(moment),
};
const agent = {
  id: text,
  name: text,
  description: nullable(text),
  status: Type.Union([Type.Literal('active'), Type.Literal('suspended')]),
  owner_user_id: nullable(text),
  app_id: nullable(text),
  services,
  created_at: moment,
};
const agentKey = {
  id: text,
  agent_id: text,
  name: text,
  created_at: moment,
  expires_at: nullable(moment),
};
const delegation = {
  id: text,
  user_id: text,
  agent_id: text,
  services,
  expires_at: nullable(moment),
};
const agentSession = {
  id: text,
  agent_id: text,
  /** The user on whose behalf it runs; null when it runs for itself. */
  user_id: nullable(text),
  services,
  /** Rises when services shrink; a capability token of an older epoch is void. */
  epoch: Type.Integer(),
  expires_at: moment,
};
const invitation = { id: text, roles: texts, created_at: moment, expires_at: moment };

export const identityEvents = integrationEvents('identity', {
  'user.created': closed({
    ...userSnapshot,
    via: Type.Enum(USER_CREATED_VIA),
  }),
  'user.updated': closed({ ...userSnapshot, changed: texts }),
  'user.status_changed': closed({ ...userSnapshot, changed: texts }),
  'user.deleted': closed({ id: text, deleted_at: moment }),
  'user.login': closed({
    ...userSnapshot,
    method: text,
    amr: texts,
    session: nullable(loginSession),
  }),
  'user.login_failed': closed({
    user_id: nullable(text),
    method: text,
    /** `invalid_credentials`, `disabled`, `email_not_verified`, `blocked`, … */
    reason: text,
    failures: Type.Integer(),
    blocked_until: nullable(moment),
  }),
  'user.password_changed': closed({
    ...userSnapshot,
    by: Type.Union([Type.Literal('user'), Type.Literal('reset'), Type.Literal('admin')]),
    changed_at: moment,
  }),
  'user.email_verified': closed({ ...userSnapshot, verified_at: moment }),
  'user.factor_changed': closed({ id: text, factor_id: text, type: text, change: text }),
  'user.identity_changed': closed({ id: text, provider: text, change: text }),
  'user.impersonated': closed({ id: text, admin_id: text, reason: text }),
  'session.revoked': closed({ id: text, user_id: text, reason: text }),
  'sessions.revoked': closed({
    user_id: text,
    kept_sid: nullable(text),
    count: Type.Integer(),
  }),

  'organization.created': closed(organization),
  'organization.updated': closed({ ...organization, changed: texts }),
  'tenant.created': closed(tenant),
  'tenant.updated': closed({ ...tenant, changed: texts }),
  'tenant.deleted': closed({ id: text, deleted_at: moment }),
  'application.created': closed(application),
  'application.updated': closed({ ...application, changed: texts }),
  'application.rotated': closed({ id: text, what: text }),
  'application.deleted': closed({ id: text, deleted_at: moment }),
  'invitation.created': closed(invitation),
  'invitation.accepted': closed({ id: text, user_id: text }),
  'invitation.revoked': closed({ id: text }),
  'api_key.created': closed(apiKey),
  'api_key.rotated': closed({ ...apiKey, previous_until: nullable(moment) }),
  'api_key.revoked': closed({ id: text, revoked_at: moment }),

  'agent.created': closed(agent),
  'agent.updated': closed({ ...agent, changed: texts }),
  'agent.suspended': closed(agent),
  'agent.resumed': closed(agent),
  'agent.deleted': closed({ id: text, deleted_at: moment }),
  'agent_key.created': closed(agentKey),
  'agent_key.rotated': closed({ ...agentKey, previous_until: nullable(moment) }),
  'agent_key.revoked': closed({ id: text, agent_id: text, revoked_at: moment }),
  'delegation.granted': closed(delegation),
  'delegation.withdrawn': closed({ id: text, user_id: text, agent_id: text, services }),
  'agent_session.started': closed({ ...agentSession, purpose: nullable(text), started_at: moment }),
  'agent_session.renewed': closed(agentSession),
  'agent_session.ended': closed({
    ...agentSession,
    /** `ended`, `expired`, `agent_suspended`, `agent_deleted`, `user_inactive`, `delegation_withdrawn`, … */
    reason: text,
    ended_at: moment,
  }),

  'mail.requested': closed({
    purpose: Type.Enum(MAIL_PURPOSES),
    user_id: nullable(text),
  }),
  'signing_key.activated': closed({ kid: text }),
  'signing_key.retired': closed({ kid: text }),
  'signing_key.removed': closed({ kid: text }),
  'action.denied': actionDenied,
});

export type IdentityEventType = (typeof identityEvents)['types'][number];
export type IdentityEventData<Of extends IdentityEventType> = DataOf<typeof identityEvents, Of>;
