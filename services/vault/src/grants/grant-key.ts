/**
 * A grant key identifies what one session requests of one service with one set of fields. Its stream stores the current
 * grant, so that a repeated request gets the same grant, and the consumed approvals, so that none issues a second
 * grant.
 */
import { crockford, lengthPrefixed, sha256Of } from '@cardea/crypto';
import type { Stream } from '@cardea/event-store';
import type { PolicyVersion } from '../policies/policies.module.ts';

export type GrantedField = {
  readonly name: string;
  readonly version: number;
  readonly secret_id: string;
};
export type UsedApproval = { readonly approval_id: string; readonly use_before: string };

/** A grant as it was issued: names and ids, no value. */
export type Grant = {
  readonly grant_id: string;
  readonly session_id: string;
  readonly agent_id: string;
  readonly user_id: string | null;
  readonly key_id: string;
  readonly cap_jti: string;
  readonly service_id: string;
  readonly service_name: string;
  readonly credential_type: 'static';
  readonly fields: readonly GrantedField[];
  readonly config_version: number;
  readonly policies: readonly PolicyVersion[];
  readonly approval_id: string | null;
  readonly granted_at: string;
  readonly expires_at: string;
};

export type CurrentGrant = Grant & {
  readonly revoked_at: string | null;
  /** Consumed approvals whose use window has not ended yet. */
  readonly used: readonly UsedApproval[];
};

export type GrantKeyState =
  | { readonly status: 'empty' }
  | { readonly status: 'granted'; readonly current: CurrentGrant };

export type CredentialGranted = {
  readonly type: 'CredentialGranted';
  readonly data: CurrentGrant & { readonly supersedes: string | null };
};
export type CredentialReused = {
  readonly type: 'CredentialReused';
  readonly concerns?: 'relay';
  /** The reused grant may have been superseded since, so it is named separately from the current grant. */
  readonly data: CurrentGrant & { readonly reused_grant_id: string; readonly count: number };
};
export type GrantRevoked = {
  readonly type: 'GrantRevoked';
  readonly data: CurrentGrant & {
    readonly revoked_grant_id: string;
    readonly cause: string;
    readonly ended_at: string;
  };
};
export type GrantKeyEvent = CredentialGranted | CredentialReused | GrantRevoked;

export const grantKeys: Stream<GrantKeyState, GrantKeyEvent> = {
  noun: 'slot',
  initial: { status: 'empty' },
  stateCarrying: true,
  evolve: (_before, { data }) => ({ status: 'granted', current: currentGrantOf(data) }),
};

/** The current grant in an event, without the event's own fields. */
export function currentGrantOf(data: CurrentGrant): CurrentGrant {
  const { grant_id, session_id, agent_id, user_id, key_id, cap_jti, service_id } = data;
  const { service_name, credential_type, fields, config_version, policies } = data;
  const { approval_id, granted_at, expires_at, revoked_at, used } = data;
  return {
    grant_id,
    session_id,
    agent_id,
    user_id,
    key_id,
    cap_jti,
    service_id,
    service_name,
    credential_type,
    fields,
    config_version,
    policies,
    approval_id,
    granted_at,
    expires_at,
    revoked_at,
    used,
  };
}

export type GrantKeyName = {
  readonly tenantId: string;
  readonly sessionId: string;
  readonly serviceId: string;
  /** Sorted and without duplicates. */
  readonly fields: readonly string[];
};

export const grantKeyIdOf = ({ tenantId, sessionId, serviceId, fields }: GrantKeyName): string =>
  crockford(
    sha256Of('slot.v1', tenantId, sessionId, serviceId, lengthPrefixed(...fields)),
  ).toLowerCase();

/**
 * The key of the shared cache entry that is replaced with each new grant of a session. Cached grants of the session are
 * valid for one value of the entry. There is one entry per session, however many grant keys it uses.
 */
export const sessionGrantsKey = (sessionId: string): string => `vault:slots:${sessionId}`;
/** How long the entry lives. Without the entry the stream is read. */
export const SESSION_GRANTS_MS = 300_000;

/** The state on which a grant depends. If any of it has changed, the grant is not reused. */
export type Snapshot = Pick<Grant, 'fields' | 'config_version' | 'policies'>;

export function isLive(grant: CurrentGrant, snapshot: Snapshot, now: Date): boolean {
  return (
    grant.revoked_at === null &&
    Date.parse(grant.expires_at) > now.getTime() &&
    grant.config_version === snapshot.config_version &&
    grant.fields.length === snapshot.fields.length &&
    grant.fields.every((field, at) => field.secret_id === snapshot.fields[at]?.secret_id) &&
    grant.policies.length === snapshot.policies.length &&
    grant.policies.every(
      ({ id, version }, at) =>
        id === snapshot.policies[at]?.id && version === snapshot.policies[at]?.version,
    )
  );
}
