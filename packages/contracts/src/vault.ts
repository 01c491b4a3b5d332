/** What vault publishes: services, secrets (never their values), policies, and grants of credentials. */
import Type from 'typebox';
import { actionDenied } from './action-denied.ts';
import { integrationEvents, nullable } from './integration-event.ts';

const names = Type.Array(Type.String());
const instant = Type.String({ format: 'date-time' });

const service = { service_id: Type.String(), service_name: Type.String() };

const grant = {
  grant_id: Type.String(),
  session_id: Type.String(),
  agent_id: Type.String(),
  user_id: nullable(Type.String()),
  service_name: Type.String(),
  /** Names of the fields. */
  fields: names,
};

const secretVersion = Type.Object({
  ...service,
  field: Type.String(),
  version: Type.Integer({ minimum: 1 }),
});

const policy = Type.Object({
  policy_id: Type.String(),
  version: Type.Integer({ minimum: 1 }),
  /** Name of the service, or `*`. */
  service: Type.String(),
  effect: Type.Union([Type.Literal('require_approval'), Type.Literal('deny')]),
});

export const vaultEvents = integrationEvents('vault', {
  'vault.credential.granted': Type.Object({
    ...grant,
    credential_type: Type.String(),
    approval_id: nullable(Type.String()),
    granted_at: instant,
    expires_at: instant,
  }),
  'vault.credential.reused': Type.Object({
    ...grant,
    approval_id: nullable(Type.String()),
    count: Type.Integer({ minimum: 1 }),
  }),
  'vault.credential.refused': Type.Object({
    agent_id: Type.String(),
    session_id: nullable(Type.String()),
    /** Null where no such service is registered. */
    service_id: nullable(Type.String()),
    service_name: nullable(Type.String()),
    fields: nullable(names),
    /** The error code that was answered. */
    code: Type.String(),
    count: Type.Integer({ minimum: 1 }),
  }),
  'vault.credential.revoked': Type.Object({
    ...grant,
    /** `admin`, `session_ended`, `agent_suspended`, `agent_deleted`, `user_disabled`, `user_deleted`, … */
    cause: Type.String(),
    revoked_at: instant,
  }),
  'vault.service.registered': Type.Object({
    ...service,
    credential_type: Type.String(),
    fields: names,
  }),
  /** `changed` names what changed, e.g. `description`, `fields`. */
  'vault.service.changed': Type.Object({ ...service, changed: names }),
  'vault.service.deleted': Type.Object(service),
  'vault.secret.written': secretVersion,
  'vault.secret.destroyed': secretVersion,
  'vault.policy.added': policy,
  'vault.policy.changed': policy,
  'vault.policy.removed': policy,
  'action.denied': actionDenied,
});
