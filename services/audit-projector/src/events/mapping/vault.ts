/** Rows for the events of vault: credentials issued and refused, services, secrets, policies. */
import type { DataOf, vaultEvents } from '@cardea/contracts';
import type { Details, Happened, Mapped, Rule } from '../audit-row.ts';
import { denied } from './denied.ts';

type Type = (typeof vaultEvents)['types'][number];
type Data<Of extends Type> = DataOf<typeof vaultEvents, Of>;

type GrantData = Data<'vault.credential.reused'> | Data<'vault.credential.granted'>;
const grantDetails = (data: GrantData | Data<'vault.credential.revoked'>): Details => ({
  service: data.service_name,
  fields: data.fields,
  grant_id: data.grant_id,
});
const credential = (id: string | null) => ({ type: 'credential', id });

const service = (past: string, action: string): Rule<Data<'vault.service.deleted'>> => ({
  category: 'vault',
  says: ({ data }) => ({
    type: `vault.service_${past}`,
    action,
    target: { type: 'service', id: data.service_id },
    details: { service: data.service_name },
  }),
});

const secretSaid = (
  past: string,
  action: string,
  data: Omit<Data<'vault.secret.revealed'>, 'reason'>,
): Mapped => ({
  type: `vault.secret_${past}`,
  action,
  target: { type: 'secret', id: `${data.service_id}/${data.field}` },
  details: { service: data.service_name, field: data.field, version: data.version },
});

const secret = (past: string, action: string): Rule<Data<'vault.secret.destroyed'>> => ({
  category: 'vault',
  says: ({ data }) => secretSaid(past, action, data),
});

const policy = (past: string, action: string): Rule<Data<'vault.policy.added'>> => ({
  category: 'vault',
  says: ({ data }) => ({
    type: `vault.policy_${past}`,
    action,
    target: { type: 'policy', id: data.policy_id },
    details: {
      policy_id: data.policy_id,
      version: data.version,
      service: data.service,
      effect: data.effect,
    },
  }),
});

export const vaultRules: { readonly [Of in Type]: Rule<Data<Of>> } = {
  'vault.credential.granted': {
    category: 'credential',
    says: ({ data }: Happened<Data<'vault.credential.granted'>>): Mapped => ({
      type: 'credential_accessed',
      action: 'access',
      target: credential(data.grant_id),
      details: {
        ...grantDetails(data),
        session_id: data.session_id,
        user_id: data.user_id,
        approval_id: data.approval_id,
      },
    }),
  },
  'vault.credential.reused': {
    category: 'credential',
    says: ({ data }: Happened<Data<'vault.credential.reused'>>): Mapped => ({
      type: 'credential_reused',
      action: 'access',
      target: credential(data.grant_id),
      details: {
        ...grantDetails(data),
        session_id: data.session_id,
        user_id: data.user_id,
        approval_id: data.approval_id,
        count: data.count,
      },
    }),
  },
  'vault.credential.refused': {
    category: 'credential',
    says: ({ data }: Happened<Data<'vault.credential.refused'>>): Mapped => ({
      type: 'credential_denied',
      action: 'deny',
      result: 'denied',
      target: credential(data.service_id),
      details: {
        service: data.service_name,
        fields: data.fields,
        code: data.code,
        session_id: data.session_id,
        count: data.count,
      },
    }),
  },
  'vault.credential.revoked': {
    category: 'credential',
    says: ({ data }: Happened<Data<'vault.credential.revoked'>>): Mapped => ({
      type: 'credential_revoked',
      action: 'revoke',
      target: credential(data.grant_id),
      details: { ...grantDetails(data), cause: data.cause },
    }),
  },
  'vault.service.registered': service('created', 'create'),
  'vault.service.changed': {
    category: 'vault',
    says: ({ data }: Happened<Data<'vault.service.changed'>>): Mapped => ({
      type: 'vault.service_updated',
      action: 'update',
      target: { type: 'service', id: data.service_id },
      details: { service: data.service_name, changed: data.changed },
    }),
  },
  'vault.service.deleted': service('deleted', 'delete'),
  'vault.secret.written': {
    category: 'vault',
    says: ({ data }: Happened<Data<'vault.secret.written'>>): Mapped =>
      secretSaid('written', data.version === 1 ? 'create' : 'rotate', data),
  },
  'vault.secret.promoted': secret('promoted', 'promote'),
  'vault.secret.rolled_back': secret('rolled_back', 'rollback'),
  'vault.secret.revealed': {
    category: 'vault',
    says: ({ data }: Happened<Data<'vault.secret.revealed'>>): Mapped => {
      const said = secretSaid('read', 'access', data);
      return { ...said, details: { ...said.details, reason: data.reason } };
    },
  },
  'vault.secret.destroyed': secret('destroyed', 'destroy'),
  'vault.policy.added': policy('created', 'create'),
  'vault.policy.changed': policy('updated', 'update'),
  'vault.policy.removed': policy('deleted', 'delete'),
  'action.denied': denied('vault'),
};
