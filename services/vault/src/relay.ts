/** What the other services and the world hear of vault: public fields of its own events, never a value. */
import type { DataOf, vaultEvents } from '@cardea/contracts';
import type { Mapped, RelayMapper } from '@cardea/event-bus';
import type { VendRefused } from './grants/refusals/refusal.ts';
import type { Held, SlotEvent } from './grants/slot.ts';
import type { Policy, PolicyEvent } from './policies/policy.ts';
import type { ServiceEvent } from './services/service.ts';

type PrivateEvent = ServiceEvent | PolicyEvent | SlotEvent | VendRefused;
type Published = keyof (typeof vaultEvents)['declared'];

const say = <Of extends Published>(type: Of, data: DataOf<typeof vaultEvents, Of>): Mapped => ({
  type,
  data,
});

type Mappers = {
  readonly [T in PrivateEvent['type']]: (
    data: Extract<PrivateEvent, { type: T }>['data'],
  ) => Mapped;
};

const mappers: Mappers = {
  ServiceRegistered: ({ service_id, service_name, service }) =>
    say('vault.service.registered', {
      service_id,
      service_name,
      credential_type: service?.credential_type ?? 'static',
      fields: service?.fields.map(({ name }) => name) ?? [],
    }),
  ServiceChanged: ({ service_id, service_name, changed }) =>
    say('vault.service.changed', { service_id, service_name, changed: [...changed] }),
  ServiceDeleted: ({ service_id, service_name }) =>
    say('vault.service.deleted', { service_id, service_name }),
  SecretVersionWritten: ({ service_id, service_name, field, version }) =>
    say('vault.secret.written', { service_id, service_name, field, version }),
  SecretVersionDestroyed: ({ service_id, service_name, field, version }) =>
    say('vault.secret.destroyed', { service_id, service_name, field, version }),
  PolicyAdded: ({ policy }) => say('vault.policy.added', termsOf(policy)),
  PolicyChanged: ({ policy }) => say('vault.policy.changed', termsOf(policy)),
  PolicyRemoved: ({ policy }) => say('vault.policy.removed', termsOf(policy)),
  CredentialGranted: (data) =>
    say('vault.credential.granted', {
      ...grantOf(data),
      credential_type: data.credential_type,
      approval_id: data.approval_id,
      granted_at: data.granted_at,
      expires_at: data.expires_at,
    }),
  CredentialReused: (data) =>
    say('vault.credential.reused', {
      ...grantOf(data),
      grant_id: data.reused_grant_id,
      // The slot may hold another grant by now, which rests on an approval of its own.
      approval_id: data.reused_grant_id === data.grant_id ? data.approval_id : null,
      count: data.count,
    }),
  GrantRevoked: (data) =>
    say('vault.credential.revoked', {
      ...grantOf(data),
      grant_id: data.revoked_grant_id,
      cause: data.cause,
      revoked_at: data.ended_at,
    }),
  VendRefused: ({ fields, ...data }) =>
    say('vault.credential.refused', { ...data, fields: fields === null ? null : [...fields] }),
};

/** Names that are reserved and given back stay private. */
export const mapVaultEvent: RelayMapper = ({ type, data }) => {
  if (!(type in mappers)) return undefined;
  return mappers[type as PrivateEvent['type']](data as never);
};

/** All grants of a slot have the same session, service and names of fields. */
const grantOf = ({ grant_id, session_id, agent_id, user_id, service_name, fields }: Held) => ({
  grant_id,
  session_id,
  agent_id,
  user_id,
  service_name,
  fields: fields.map(({ name }) => name),
});

const termsOf = ({ id, version, service_name, effect }: Policy) => ({
  policy_id: id,
  version,
  service: service_name,
  effect,
});
