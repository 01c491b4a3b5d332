/** Rows for the events of identity: accounts and sessions, administration, agents. */
import type { IdentityEventData, IdentityEventType } from '@cardea/contracts';
import { byAdmin, type Happened, type Mapped, type Rule } from '../audit-row.ts';
import { denied } from './denied.ts';
import { administered, administration } from './identity-administration.ts';
import { agents } from './identity-agents.ts';

type Rules = { readonly [Type in IdentityEventType]: Rule<IdentityEventData<Type>> };
type Data<Type extends IdentityEventType> = IdentityEventData<Type>;

const user = (id: string | null) => ({ type: 'user', id });
const client = (id: string) => ({ type: 'client', id });

const accounts = {
  'user.created': {
    category: 'auth',
    says: ({ data, tenantId }: Happened<Data<'user.created'>>): Mapped => {
      const { via, id, roles } = data;
      switch (via) {
        case 'signup':
          return {
            type: 'workspace.created',
            action: 'create',
            target: { type: 'tenant', id: tenantId },
            details: { user_id: id },
          };
        case 'register':
        case 'social':
        case 'invitation':
          return { type: 'user.registered', action: 'create', target: user(id), details: { via } };
        default:
          return {
            type: 'admin.user.create',
            category: 'admin',
            action: 'create',
            target: user(id),
            details: { via, roles },
          };
      }
    },
  },
  'user.updated': {
    category: 'auth',
    says: (event: Happened<Data<'user.updated'>>): Mapped => {
      const { id, changed } = event.data;
      if (byAdmin(event)) {
        return { ...administered('user', 'update', id, { changed }), category: 'admin' };
      }
      return changed.includes('email')
        ? { type: 'email.changed', action: 'update', target: user(id), details: { changed } }
        : { type: 'profile.updated', action: 'update', target: user(id), details: { changed } };
    },
  },
  'user.status_changed': {
    category: 'admin',
    says: ({ data: { id, changed, status } }: Happened<Data<'user.status_changed'>>): Mapped =>
      administered('user', 'update', id, { changed, status }),
  },
  'user.deleted': {
    category: 'admin',
    says: ({ data: { id } }: Happened<Data<'user.deleted'>>): Mapped =>
      administered('user', 'delete', id),
  },
  'user.login': {
    category: 'auth',
    says: ({ data: { id, session, method, amr } }: Happened<Data<'user.login'>>): Mapped => ({
      type: 'login.success',
      action: 'login',
      target: session === null ? user(id) : { type: 'session', id: session.id },
      details: { method, amr },
    }),
  },
  'user.login_failed': {
    category: 'auth',
    says: ({ data }: Happened<Data<'user.login_failed'>>): Mapped => {
      const { method, reason, failures } = data;
      return {
        ...failedSignIn(method, reason),
        target: user(data.user_id),
        details: { method, reason, failures },
      };
    },
  },
  'user.unlocked': {
    category: 'admin',
    says: ({ data: { id } }: Happened<Data<'user.unlocked'>>): Mapped =>
      administered('user', 'unlock', id),
  },
  'user.password_changed': {
    category: 'auth',
    says: ({ data: { id, by } }: Happened<Data<'user.password_changed'>>): Mapped => ({
      type: by === 'user' ? 'password.changed' : 'password.reset',
      action: 'update',
      target: user(id),
      details: { by },
    }),
  },
  'user.email_verified': {
    category: 'auth',
    says: ({ data: { id } }: Happened<Data<'user.email_verified'>>): Mapped => ({
      type: 'email.verified',
      action: 'verify',
      target: user(id),
    }),
  },
  'user.email_change': {
    category: 'auth',
    says: ({ data: { id, step, by } }: Happened<Data<'user.email_change'>>): Mapped => ({
      type: EMAIL_CHANGE_TYPES[step],
      action: EMAIL_CHANGE_ACTIONS[step],
      target: user(id),
      details: { by },
    }),
  },
  'user.deletion': {
    category: 'auth',
    says: ({ data: { id, step, delete_at } }: Happened<Data<'user.deletion'>>): Mapped => ({
      type: step === 'scheduled' ? 'account.deletion_scheduled' : 'account.deletion_cancelled',
      action: step === 'scheduled' ? 'request' : 'cancel',
      target: user(id),
      details: { delete_at },
    }),
  },
  'user.self_exported': {
    category: 'auth',
    says: ({ data: { id } }: Happened<Data<'user.self_exported'>>): Mapped => ({
      type: 'account.exported',
      action: 'export',
      target: user(id),
    }),
  },
  'user.factor_changed': {
    category: 'auth',
    says: ({ data }: Happened<Data<'user.factor_changed'>>): Mapped => ({
      ...factorChange(data.type, data.change),
      target: { type: 'factor', id: data.factor_id },
      details: { type: data.type },
    }),
  },
  'user.identity_changed': {
    category: 'auth',
    says: ({ data }: Happened<Data<'user.identity_changed'>>): Mapped => ({
      type: data.change === 'linked' ? 'identity.linked' : 'identity.unlinked',
      action: data.change === 'linked' ? 'link' : 'unlink',
      target: user(data.id),
      details: { provider: data.provider },
    }),
  },
  'user.impersonated': {
    category: 'admin',
    says: ({ data }: Happened<Data<'user.impersonated'>>): Mapped =>
      administered('user', 'impersonate', data.id, { reason: data.reason }),
  },
  'users.exported': {
    category: 'admin',
    says: ({ data: { rows, included } }: Happened<Data<'users.exported'>>): Mapped => ({
      type: 'admin.user.export',
      action: 'export',
      target: user(null),
      details: included === undefined ? { rows } : { rows, included },
    }),
  },
  'session.revoked': {
    category: 'auth',
    says: ({ data: { id, reason, client_id } }: Happened<Data<'session.revoked'>>): Mapped => ({
      ...(reason === 'reuse'
        ? ({
            type:
              typeof client_id === 'string'
                ? 'oauth.refresh_reuse_detected'
                : 'refresh.reuse_detected',
            action: 'deny',
            result: 'denied',
          } as const)
        : { type: 'session.revoked', action: 'revoke' }),
      target: { type: 'session', id },
      details: { reason },
    }),
  },
  'session.refresh_repeated': {
    category: 'auth',
    says: ({ data: { id } }: Happened<Data<'session.refresh_repeated'>>): Mapped => ({
      type: 'session.refresh_repeated',
      action: 'refresh',
      result: 'failure',
      target: { type: 'session', id },
    }),
  },
  'sessions.revoked': {
    category: 'auth',
    says: ({ data }: Happened<Data<'sessions.revoked'>>): Mapped => ({
      type: 'session.revoked_all',
      action: 'revoke',
      target: user(data.user_id),
      details: { count: data.count },
    }),
  },
  'mail.requested': {
    category: 'auth',
    says: ({ data: { purpose, user_id } }: Happened<Data<'mail.requested'>>) => {
      const type = MAIL_TYPES[purpose];
      return type === undefined
        ? { skip: 'tells the holder of an address something; nobody asked for it' }
        : { type, action: 'request', target: user(user_id), details: { purpose } };
    },
  },
} satisfies Partial<Rules>;

const EMAIL_CHANGE_TYPES = {
  requested: 'email.change_requested',
  proven: 'email.change_proven',
  stopped: 'email.change_stopped',
} as const;
const EMAIL_CHANGE_ACTIONS = { requested: 'request', proven: 'verify', stopped: 'cancel' } as const;

const MAIL_TYPES: { readonly [purpose: string]: string | undefined } = {
  reset: 'password.reset_requested',
  magic_link: 'magic_link.sent',
  otp: 'otp.sent',
  verify: 'email.verification_sent',
};

function failedSignIn(method: string, reason: string): Pick<Mapped, 'type' | 'action' | 'result'> {
  if (reason === 'blocked') return { type: 'login.blocked', action: 'login', result: 'denied' };
  switch (method) {
    case 'otp':
      return { type: 'otp.failure', action: 'verify', result: 'failure' };
    case 'totp':
    case 'recovery':
    case 'passkey':
      return { type: 'mfa.failure', action: 'verify', result: 'failure' };
    default:
      return { type: 'login.failure', action: 'login', result: 'failure' };
  }
}

function factorChange(type: string, change: string): Pick<Mapped, 'type' | 'action'> {
  if (change === 'stepped') return { type: 'step_up.success', action: 'verify' };
  if (type === 'passkey') {
    return change === 'removed'
      ? { type: 'passkey.removed', action: 'remove' }
      : { type: 'passkey.added', action: 'add' };
  }
  switch (change) {
    case 'removed':
      return { type: 'mfa.removed', action: 'remove' };
    case 'verified':
      return { type: 'mfa.verified', action: 'verify' };
    default:
      return { type: 'mfa.enrolled', action: 'enroll' };
  }
}

const applications = {
  'consent.granted': {
    category: 'auth',
    says: ({ data }: Happened<Data<'consent.granted'>>): Mapped => ({
      type: 'consent.granted',
      action: 'grant',
      target: client(data.client_id),
      details: { user_id: data.user_id, scopes: data.scopes },
    }),
  },
  'consent.revoked': {
    category: 'auth',
    says: ({ data }: Happened<Data<'consent.revoked'>>): Mapped => ({
      type: 'consent.revoked',
      action: 'revoke',
      target: client(data.client_id),
      details: { user_id: data.user_id },
    }),
  },
  'oauth.authorized': {
    category: 'auth',
    says: ({ data }: Happened<Data<'oauth.authorized'>>): Mapped => ({
      type: 'oauth.authorized',
      action: 'authorize',
      target: client(data.client_id),
      details: { scopes: data.scopes, resource: data.resource, session_id: data.session_id },
    }),
  },
  'oauth.client_auth_failed': {
    category: 'auth',
    says: ({ data }: Happened<Data<'oauth.client_auth_failed'>>): Mapped => ({
      type: 'oauth.client_auth_failed',
      action: 'login',
      result: 'failure',
      target: client(data.client_id),
      details: { reason: data.reason },
    }),
  },
  'oauth.logout_notice_failed': {
    category: 'auth',
    says: ({ data }: Happened<Data<'oauth.logout_notice_failed'>>): Mapped => ({
      type: 'oauth.logout_notice_failed',
      action: 'notify',
      result: 'failure',
      target: client(data.client_id),
      details: { session_id: data.session_id, attempts: data.attempts, cause: data.cause },
    }),
  },
} satisfies Partial<Rules>;

export const identityRules: Rules = {
  ...accounts,
  ...applications,
  ...administration,
  ...agents,
  'action.denied': denied('auth'),
};
