/** What the other services and the world hear of vault: public fields of its own events, never a value. */
import type { vaultEvents } from '@cardea/contracts';
import { relay } from '@cardea/event-bus';
import { ignoring, type ReservationEvent } from '@cardea/event-store';
import type { VendRefused } from './grants/refusal.ts';
import type { Held, SlotEvent } from './grants/slot.ts';
import type { Policy, PolicyEvent } from './policies/policy.ts';
import type { ServiceEvent } from './services/service.ts';

type PrivateEvent = ServiceEvent | PolicyEvent | SlotEvent | VendRefused | ReservationEvent;

export const vaultRelay = relay<PrivateEvent, typeof vaultEvents>({
  ServiceRegistered: ({ data: { service_id, service_name, service } }) => ({
    type: 'vault.service.registered',
    data: {
      service_id,
      service_name,
      credential_type: service?.credential_type ?? 'static',
      fields: service?.fields.map(({ name }) => name) ?? [],
    },
  }),
  ServiceChanged: ({ data: { service_id, service_name, changed } }) => ({
    type: 'vault.service.changed',
    data: { service_id, service_name, changed: [...changed] },
  }),
  ServiceDeleted: ({ data: { service_id, service_name } }) => ({
    type: 'vault.service.deleted',
    data: { service_id, service_name },
  }),
  SecretVersionWritten: ({ data: { service_id, service_name, field, version } }) => ({
    type: 'vault.secret.written',
    data: { service_id, service_name, field, version },
  }),
  SecretVersionDestroyed: ({ data: { service_id, service_name, field, version } }) => ({
    type: 'vault.secret.destroyed',
    data: { service_id, service_name, field, version },
  }),
  PolicyAdded: ({ data }) => ({ type: 'vault.policy.added', data: termsOf(data.policy) }),
  PolicyChanged: ({ data }) => ({ type: 'vault.policy.changed', data: termsOf(data.policy) }),
  PolicyRemoved: ({ data }) => ({ type: 'vault.policy.removed', data: termsOf(data.policy) }),
  CredentialGranted: ({ data }) => ({
    type: 'vault.credential.granted',
    data: {
      ...grantOf(data),
      credential_type: data.credential_type,
      approval_id: data.approval_id,
      granted_at: data.granted_at,
      expires_at: data.expires_at,
    },
  }),
  CredentialReused: ({ data }) => ({
    type: 'vault.credential.reused',
    data: {
      ...grantOf(data),
      grant_id: data.reused_grant_id,
      // The slot may hold another grant by now, which rests on an approval of its own.
      approval_id: data.reused_grant_id === data.grant_id ? data.approval_id : null,
      count: data.count,
    },
  }),
  GrantRevoked: ({ data }) => ({
    type: 'vault.credential.revoked',
    data: {
      ...grantOf(data),
      grant_id: data.revoked_grant_id,
      cause: data.cause,
      revoked_at: data.ended_at,
    },
  }),
  VendRefused: ({ data: { fields, ...data } }) => ({
    type: 'vault.credential.refused',
    data: { ...data, fields: fields === null ? null : [...fields] },
  }),
  ...ignoring('names that are reserved and given back stay private', 'Reserved', 'Released'),
});

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
