/**
 * What identity tells the others of what happened in its own log (`docs/design/identity.md`, What it
 * tells other services).
 */
import type { IdentityEventData, IdentityEventType } from '@cardea/contracts';
import type { Sealed } from '@cardea/crypto';
import type { Mapped, RelayMapper } from '@cardea/event-bus';
import { type RecordedEvent, upcastTo } from '@cardea/event-store';
import { snapshotOf, type UserSnapshot } from './accounts/user-directory.ts';
import { exists, type UserEvent, users } from './accounts/users/user.ts';
import { deviceOf } from './adapters/device.ts';
import type { SigninEvent } from './authentication/signins/signin.ts';
import type { MailboxEvent } from './mail/mailboxes/mailbox.ts';
import type { SessionEvent, SessionFacts } from './sessions/session.ts';
import type { KeyringEvent } from './signing-keys/keyring.ts';
import type { ApplicationEvent } from './workspaces/applications/application.ts';
import { type OrganizationEvent, organizations } from './workspaces/organizations/organization.ts';
import { type TenantEvent, tenants } from './workspaces/tenants/tenant.ts';

type Tools = Parameters<RelayMapper>[1];
type PrivateEvent =
  | UserEvent
  | SessionEvent
  | SigninEvent
  | MailboxEvent
  | OrganizationEvent
  | TenantEvent
  | ApplicationEvent
  | KeyringEvent;
type DataOf<T extends PrivateEvent['type']> = Extract<PrivateEvent, { type: T }>['data'];
type Mapper<T extends PrivateEvent['type']> = (
  event: Omit<RecordedEvent, 'data'> & { readonly data: DataOf<T> },
  tools: Tools,
) => Promise<Mapped | readonly Mapped[] | undefined> | Mapped | readonly Mapped[] | undefined;

/** Says an integration event with data that its contract takes. */
const say = <Of extends IdentityEventType>(type: Of, data: IdentityEventData<Of>): Mapped => ({
  type,
  data,
});

/** The user as of this event of their own stream. */
async function userOf(event: Pick<RecordedEvent, 'streamId'>, tools: Tools): Promise<UserSnapshot> {
  const user = (await tools.history()).reduce(
    (before, past) => users.evolve(before, upcastTo(users, past) as unknown as UserEvent),
    users.initial,
  );
  if (!exists(user)) throw new Error('a user event without a user');
  const { streamId } = event;
  const open = (sealed: Sealed | null, field: string) =>
    sealed === null ? null : tools.open(sealed, { streamId, field });
  return snapshotOf(user, {
    email: await open(user.email, 'email'),
    displayName: await open(user.displayName, 'display_name'),
  });
}

const mappers: { readonly [T in PrivateEvent['type']]?: Mapper<T> } = {
  UserRegistered: async (event, tools) =>
    say('user.created', { ...(await userOf(event, tools)), via: event.data.via }),
  PasswordSet: async (event, tools) => {
    const { by, at } = event.data;
    if (by === 'created') return undefined;
    const user = await userOf(event, tools);
    return say('user.password_changed', { ...user, by, changed_at: at });
  },
  EmailVerified: async (event, tools) =>
    say('user.email_verified', { ...(await userOf(event, tools)), verified_at: event.data.at }),
  ProfileChanged: async (event, tools) => {
    const changed = (['display_name', 'avatar_url'] as const).filter((key) => key in event.data);
    return say('user.updated', { ...(await userOf(event, tools)), changed });
  },
  RolesChanged: async (event, tools) =>
    say('user.updated', { ...(await userOf(event, tools)), changed: ['roles'] }),
  UserVouched: async (event, tools) =>
    say('user.updated', { ...(await userOf(event, tools)), changed: ['vouched'] }),
  VouchWithdrawn: async (event, tools) =>
    say('user.updated', { ...(await userOf(event, tools)), changed: ['vouched'] }),
  UserDisabled: async (event, tools) =>
    say('user.status_changed', { ...(await userOf(event, tools)), changed: ['status'] }),
  UserEnabled: async (event, tools) =>
    say('user.status_changed', { ...(await userOf(event, tools)), changed: ['status'] }),
  UserDeleted: ({ data }) => say('user.deleted', { id: data.id, deleted_at: data.deleted_at }),
  SessionsRevoked: ({ data }) =>
    say('sessions.revoked', { user_id: data.id, kept_sid: data.keep_sid, count: data.count }),

  SessionStarted: async (event, tools) => {
    const { data } = event;
    // A registration signs in as well, but says so by itself.
    if (data.via !== 'login') return undefined;
    const { streamId } = event;
    const user = await tools.open(data.user, { streamId, field: 'user' });
    const session = await loginSessionOf(data, streamId, tools);
    return say('user.login', {
      ...(user === null
        ? erasedUser(data.user_id, data.started_at)
        : (JSON.parse(user) as UserSnapshot)),
      method: data.method,
      amr: [...data.amr],
      session,
    });
  },
  SessionRevoked: ({ data }) =>
    say('session.revoked', { id: data.id, user_id: data.user_id, reason: data.reason ?? 'user' }),
  SessionRefreshRepeated: ({ data }) =>
    say('session.refresh_repeated', { id: data.id, user_id: data.user_id }),
  SignInFailed: ({ data }) => {
    const { user_id, method, reason, failures, blocked_until } = data;
    return say('user.login_failed', { user_id, method, reason, failures, blocked_until });
  },
  MailRequested: ({ data }) =>
    say('mail.requested', { purpose: data.purpose, user_id: data.user_id }),

  OrganizationCreated: async (_event, tools) =>
    say('organization.created', await organizationOf(tools)),
  OrganizationChanged: async ({ data }, tools) =>
    say('organization.updated', { ...(await organizationOf(tools)), changed: changedIn(data) }),
  TenantCreated: async (_event, tools) => say('tenant.created', await tenantOf(tools)),
  TenantChanged: async ({ data }, tools) =>
    say('tenant.updated', { ...(await tenantOf(tools)), changed: changedIn(data) }),
  TenantSettingsChanged: async ({ data }, tools) =>
    say('tenant.updated', {
      ...(await tenantOf(tools)),
      changed: Object.keys(data.settings).map((name) => `settings.${name}`),
    }),
  TenantDeleted: ({ data }) => say('tenant.deleted', { id: data.id, deleted_at: data.deleted_at }),
  ApplicationCreated: ({ data }) => {
    const { id, name, environment, type, publishable_key, created_at } = data;
    return say('application.created', {
      id,
      name,
      environment,
      type,
      publishable_key,
      created_at,
    });
  },
  ApplicationDeleted: ({ data }) =>
    say('application.deleted', { id: data.id, deleted_at: data.deleted_at }),
  KeyActivated: ({ data }) => say('signing_key.activated', { kid: data.kid }),
  KeyRetired: ({ data }) => say('signing_key.retired', { kid: data.kid }),
  KeyRemoved: ({ data }) => say('signing_key.removed', { kid: data.kid }),
};

/** Later slices add theirs; a private event without a mapper stays private. */
export const relayOf =
  (further: { readonly [eventType: string]: RelayMapper } = {}): RelayMapper =>
  (event, tools) => {
    const own = mappers[event.type as PrivateEvent['type']] as RelayMapper | undefined;
    return (own ?? further[event.type])?.(event, tools);
  };

async function loginSessionOf(data: SessionFacts, streamId: string, tools: Tools) {
  const [ip, userAgent] = await Promise.all([
    tools.open(data.ip, { streamId, field: 'ip' }),
    tools.open(data.user_agent, { streamId, field: 'user_agent' }),
  ]);
  return {
    id: data.id,
    family_id: data.id,
    ip_address: ip,
    user_agent: userAgent,
    ...deviceOf(userAgent),
    started_at: data.started_at,
    last_active_at: data.last_active_at,
    expires_at: data.expires_at,
  };
}

const erasedUser = (id: string, at: string): UserSnapshot => ({
  id,
  email: null,
  display_name: null,
  email_verified: false,
  roles: [],
  status: 'active',
  created_at: at,
});

async function organizationOf(tools: Tools) {
  const state = (await tools.history()).reduce(
    (before, { type, data }) =>
      organizations.evolve(before, { type, data } as unknown as OrganizationEvent),
    organizations.initial,
  );
  if (state.status === 'none') throw new Error('an organization event without an organization');
  return {
    id: state.id,
    name: state.name,
    audit_retention_days: state.auditRetentionDays,
    created_at: state.createdAt,
  };
}

async function tenantOf(tools: Tools) {
  const state = (await tools.history()).reduce(
    (before, { type, data }) => tenants.evolve(before, { type, data } as unknown as TenantEvent),
    tenants.initial,
  );
  if (state.status === 'none') throw new Error('a tenant event without a tenant');
  return {
    id: state.id,
    organization_id: state.organizationId,
    name: state.name,
    slug: state.slug,
    display_name: state.displayName,
    environment: state.environment,
    approval_channels: [...state.settings.approval_channels],
    created_at: state.createdAt,
  };
}

const changedIn = (data: object): string[] => Object.keys(data).filter((key) => key !== 'id');
