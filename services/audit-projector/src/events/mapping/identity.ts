/** Rows for what identity publishes: accounts and sessions, administration, agents. */
import type { IdentityEventData, IdentityEventType } from '@cardea/contracts';
import { byAdmin, type Details, type Happened, type Rule, type Said } from '../audit-row.ts';
import { denied } from './denied.ts';

type Rules = { readonly [Type in IdentityEventType]: Rule<IdentityEventData<Type>> };
type Data<Type extends IdentityEventType> = IdentityEventData<Type>;

const user = (id: string | null) => ({ type: 'user', id });

const accounts = {
  'user.created': {
    category: 'auth',
    says: ({ data, tenantId }: Happened<Data<'user.created'>>): Said => {
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
    says: (event: Happened<Data<'user.updated'>>): Said => {
      const { id, changed } = event.data;
      return byAdmin(event)
        ? { ...administered('user', 'update', id, { changed }), category: 'admin' }
        : { type: 'profile.updated', action: 'update', target: user(id), details: { changed } };
    },
  },
  'user.status_changed': {
    category: 'admin',
    says: ({ data: { id, changed, status } }: Happened<Data<'user.status_changed'>>): Said =>
      administered('user', 'update', id, { changed, status }),
  },
  'user.deleted': {
    category: 'admin',
    says: ({ data: { id } }: Happened<Data<'user.deleted'>>): Said =>
      administered('user', 'delete', id),
  },
  'user.login': {
    category: 'auth',
    says: ({ data: { id, session, method, amr } }: Happened<Data<'user.login'>>): Said => ({
      type: 'login.success',
      action: 'login',
      target: session === null ? user(id) : { type: 'session', id: session.id },
      details: { method, amr },
    }),
  },
  'user.login_failed': {
    category: 'auth',
    says: ({ data }: Happened<Data<'user.login_failed'>>): Said => {
      const { method, reason, failures } = data;
      return {
        ...failedSignIn(method, reason),
        target: user(data.user_id),
        details: { method, reason, failures },
      };
    },
  },
  'user.password_changed': {
    category: 'auth',
    says: ({ data: { id, by } }: Happened<Data<'user.password_changed'>>): Said => ({
      type: by === 'user' ? 'password.changed' : 'password.reset',
      action: 'update',
      target: user(id),
      details: { by },
    }),
  },
  'user.email_verified': {
    category: 'auth',
    says: ({ data: { id } }: Happened<Data<'user.email_verified'>>): Said => ({
      type: 'email.verified',
      action: 'verify',
      target: user(id),
    }),
  },
  'user.factor_changed': {
    category: 'auth',
    says: ({ data }: Happened<Data<'user.factor_changed'>>): Said => ({
      ...factorChange(data.type, data.change),
      target: { type: 'factor', id: data.factor_id },
      details: { type: data.type },
    }),
  },
  'user.identity_changed': {
    category: 'auth',
    says: ({ data }: Happened<Data<'user.identity_changed'>>): Said => ({
      type: data.change === 'linked' ? 'identity.linked' : 'identity.unlinked',
      action: data.change === 'linked' ? 'link' : 'unlink',
      target: user(data.id),
      details: { provider: data.provider },
    }),
  },
  'user.impersonated': {
    category: 'admin',
    says: ({ data }: Happened<Data<'user.impersonated'>>): Said =>
      administered('user', 'impersonate', data.id, { reason: data.reason }),
  },
  'session.revoked': {
    category: 'auth',
    says: ({ data: { id, reason } }: Happened<Data<'session.revoked'>>): Said => ({
      ...(reason === 'reuse'
        ? ({ type: 'refresh.reuse_detected', action: 'deny', result: 'denied' } as const)
        : { type: 'session.revoked', action: 'revoke' }),
      target: { type: 'session', id },
      details: { reason },
    }),
  },
  'sessions.revoked': {
    category: 'auth',
    says: ({ data }: Happened<Data<'sessions.revoked'>>): Said => ({
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

const MAIL_TYPES: { readonly [purpose: string]: string | undefined } = {
  reset: 'password.reset_requested',
  magic_link: 'magic_link.sent',
  otp: 'otp.sent',
  verify: 'email.verification_sent',
};

function failedSignIn(method: string, reason: string): Pick<Said, 'type' | 'action' | 'result'> {
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

function factorChange(type: string, change: string): Pick<Said, 'type' | 'action'> {
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

const administered = (noun: string, action: string, id: string, details: Details = {}): Said => ({
  type: `admin.${noun}.${action}`,
  action,
  target: { type: noun, id },
  details,
});

/** A rule for `<noun>.<past tense>` events whose row is `admin.<noun>.<verb>` with some of their fields. */
const admin = <Data extends { readonly id: string }>(
  noun: string,
  action: string,
  details: (data: Data) => Details = () => ({}),
): Rule<Data> => ({
  category: 'admin',
  says: ({ data }) => administered(noun, action, data.id, details(data)),
});

const changedOf = ({ changed }: { readonly changed: readonly string[] }) => ({ changed });

const administration = {
  'organization.created': admin('organization', 'create'),
  'organization.updated': admin<Data<'organization.updated'>>('organization', 'update', changedOf),
  'tenant.created': admin<Data<'tenant.created'>>('tenant', 'create', ({ environment }) => ({
    environment,
  })),
  'tenant.updated': admin<Data<'tenant.updated'>>('tenant', 'update', changedOf),
  'tenant.deleted': admin('tenant', 'delete'),
  'application.created': admin<Data<'application.created'>>(
    'application',
    'create',
    ({ environment }) => ({ environment }),
  ),
  'application.updated': admin<Data<'application.updated'>>('application', 'update', changedOf),
  'application.rotated': admin<Data<'application.rotated'>>('application', 'rotate', (data) => ({
    what: data.what,
  })),
  'application.deleted': admin('application', 'delete'),
  'invitation.created': admin<Data<'invitation.created'>>('invitation', 'create', ({ roles }) => ({
    roles,
  })),
  'invitation.accepted': admin('invitation', 'accept'),
  'invitation.revoked': admin('invitation', 'revoke'),
  'api_key.created': admin<Data<'api_key.created'>>('api_key', 'create', (data) => ({
    scopes: data.scopes,
    environment: data.environment,
  })),
  'api_key.rotated': admin<Data<'api_key.rotated'>>('api_key', 'rotate', (data) => ({
    scopes: data.scopes,
    environment: data.environment,
  })),
  'api_key.revoked': admin('api_key', 'revoke'),
  'signing_key.activated': signingKey('activated', 'rotate'),
  'signing_key.retired': signingKey('retired', 'retire'),
  'signing_key.removed': signingKey('removed', 'remove'),
} satisfies Partial<Rules>;

function signingKey(past: string, action: string): Rule<{ readonly kid: string }> {
  return {
    category: 'admin',
    says: (event) => ({
      type: byAdmin(event) ? 'admin.keys.rotate' : `keys.${past}`,
      action,
      target: { type: 'signing_key', id: event.data.kid },
      details: { kid: event.data.kid },
    }),
  };
}

type AgentData = Data<'agent.created'>;
const agentRule = (
  action: string,
  type: string,
  details: (data: AgentData) => Details = ({ services }) => ({ services }),
): Rule<AgentData> => ({
  category: 'agent',
  says: ({ data }) => ({
    type,
    action,
    target: { type: 'agent', id: data.id },
    details: details(data),
  }),
});

const keyRule = (action: string, past: string): Rule<{ id: string; agent_id: string }> => ({
  category: 'agent',
  says: ({ data }) => ({
    type: `agent.key_${past}`,
    action,
    target: { type: 'agent_key', id: data.id },
    details: { agent_id: data.agent_id },
  }),
});

const agents = {
  'agent.created': agentRule('create', 'agent.created'),
  'agent.updated': {
    category: 'agent',
    says: ({ data }: Happened<Data<'agent.updated'>>): Said => ({
      type: 'agent.updated',
      action: 'update',
      target: { type: 'agent', id: data.id },
      details: { changed: data.changed, services: data.services },
    }),
  },
  'agent.suspended': agentRule('suspend', 'agent.suspended', () => ({})),
  'agent.resumed': agentRule('resume', 'agent.resumed', () => ({})),
  'agent.deleted': {
    category: 'agent',
    says: ({ data }: Happened<Data<'agent.deleted'>>): Said => ({
      type: 'agent.deleted',
      action: 'delete',
      target: { type: 'agent', id: data.id },
    }),
  },
  'agent_key.created': keyRule('create', 'created'),
  'agent_key.rotated': keyRule('rotate', 'rotated'),
  'agent_key.revoked': keyRule('revoke', 'revoked'),
  'delegation.granted': delegation('grant', 'granted'),
  'delegation.withdrawn': delegation('revoke', 'withdrawn'),
  'agent_session.started': session('start', 'agent.session_started'),
  'agent_session.renewed': session('issue', 'agent.token_issued'),
  'agent_session.ended': {
    category: 'agent',
    says: ({ data }: Happened<Data<'agent_session.ended'>>): Said => ({
      ...sessionSaid('end', 'agent.session_ended', data),
      details: { ...sessionDetails(data), reason: data.reason },
    }),
  },
} satisfies Partial<Rules>;

function delegation(action: string, past: string): Rule<Data<'delegation.withdrawn'>> {
  return {
    category: 'agent',
    says: ({ data }) => ({
      type: `agent.delegation_${past}`,
      action,
      target: { type: 'agent', id: data.agent_id },
      details: { services: data.services },
    }),
  };
}

type SessionData = Data<'agent_session.renewed'>;
const sessionDetails = ({ agent_id, user_id, services }: SessionData): Details => ({
  agent_id,
  user_id,
  services,
});
const sessionSaid = (action: string, type: string, data: SessionData): Said => ({
  type,
  action,
  target: { type: 'agent_session', id: data.id },
  details: sessionDetails(data),
});
function session(action: string, type: string): Rule<SessionData> {
  return { category: 'agent', says: ({ data }) => sessionSaid(action, type, data) };
}

export const identityRules: Rules = {
  ...accounts,
  ...administration,
  ...agents,
  'action.denied': denied('auth'),
};
