/** Rows for the events of identity about organizations, tenants, applications and keys. */
import type { IdentityEventData, IdentityEventType } from '@cardea/contracts';
import { byAdmin, type Details, type Mapped, type Rule } from '../audit-row.ts';

type Rules = { readonly [Type in IdentityEventType]: Rule<IdentityEventData<Type>> };
type Data<Type extends IdentityEventType> = IdentityEventData<Type>;

export const administered = (
  noun: string,
  action: string,
  id: string,
  details: Details = {},
): Mapped => ({
  type: `admin.${noun}.${action}`,
  action,
  target: { type: noun, id },
  details,
});

/** Makes a rule for `<noun>.<past tense>` events. Its row is `admin.<noun>.<verb>` with some of the event's fields. */
const admin = <Data extends { readonly id: string }>(
  noun: string,
  action: string,
  details: (data: Data) => Details = () => ({}),
): Rule<Data> => ({
  category: 'admin',
  says: ({ data }) => administered(noun, action, data.id, details(data)),
});

const changedOf = ({ changed }: { readonly changed: readonly string[] }) => ({ changed });

export const administration = {
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
  'resource_server.created': admin<Data<'resource_server.created'>>(
    'resource_server',
    'create',
    ({ scopes }) => ({ scopes }),
  ),
  'resource_server.deleted': admin('resource_server', 'delete'),
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
