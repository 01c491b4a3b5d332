/** Checks 8 to 11 of a vend, in this order: the service, the scope, the secrets, the policies. */
import type { ServiceDependencies } from '@cardea/service';
import type { EpochCache } from '../../epochs.ts';
import type { IdentityFacts } from '../../identity-facts/identity-facts.ts';
import { REREAD_AFTER_MS } from '../../identity-facts/identity-facts.ts';
import {
  type ApprovalRequirement,
  evaluatePolicies,
  type NoApproverReason,
  type PolicySet,
  policySets,
} from '../../policies/policies.module.ts';
import type { Catalog, ServiceRecord } from '../../services/services.module.ts';
import { type GrantKeyState, grantKeyIdOf, type Snapshot } from '../grant-key.ts';
import {
  currentVersions,
  deniedByNews,
  deniedForGood,
  firstEnd,
  type Wanted,
} from './authority.ts';
import type { VendBody, VendRefusal } from './vend-shape.ts';
import type { VendRequest, VerifiedSession } from './verify-session.ts';

/** A tenant's data that vends cache for a few seconds. */
export type VendCaches = {
  readonly services: EpochCache<ServiceRecord | undefined>;
  readonly policies: EpochCache<PolicySet>;
  readonly grantKeys: EpochCache<GrantKeyState>;
};

type Dependencies = Pick<ServiceDependencies, 'streams' | 'clock'> & {
  readonly caches: VendCaches;
  readonly catalog: Catalog;
  readonly facts: IdentityFacts;
};

export type Refused = {
  readonly refused: VendRefusal;
  readonly fields?: readonly string[];
  readonly retryAfterSeconds?: number;
  readonly reason?: NoApproverReason;
  /** Whether the agent may ask for the fields that it lacks. */
  readonly mayAsk?: boolean;
  /** The requested service, if it is registered. */
  readonly service?: ServiceRecord;
};
/** A request that service, scope and policies allow, with the facts that the checks found. */
export type AuthorizedRequest = {
  readonly request: VendRequest<VendBody>;
  readonly session: VerifiedSession;
  readonly service: ServiceRecord;
  readonly fields: readonly string[];
  /** Undefined if the policies allow the vend without an approval. */
  readonly requirement: ApprovalRequirement | undefined;
  readonly snapshot: Snapshot;
  /** The names of the policies in `snapshot`, by their ids. Empty if no approval is required. */
  readonly policyNames: ReadonlyMap<string, string>;
  readonly grantKeyId: string;
  /** The end of the access that an approval gave the agent. No grant outlives it. */
  readonly accessEndsAt: Date | undefined;
};

/** Checks 8 to 11. */
export async function authorizedRequestOf(
  vault: Dependencies,
  request: VendRequest<VendBody>,
  session: VerifiedSession,
): Promise<AuthorizedRequest | Refused> {
  const { tenantId, body } = request;
  const { capability, epoch, userRevoked } = session;
  const fields = [...new Set(body.fields)].sort();
  const service = await vault.caches.services.through(
    `${tenantId} ${body.service_name}`,
    epoch,
    () => vault.catalog.byName(tenantId, body.service_name),
  );
  if (service === undefined || !service.enabled) return { refused: 'NOT_FOUND' };
  const now = vault.clock.now();
  const wanted = { service, fields, capability, userRevoked, now };
  const { denied, facts } = await deniedFields(vault, wanted, session);
  if (denied.length > 0) {
    const mayAsk = await vault.facts.mayAskForAccess(tenantId);
    return { refused: 'CREDENTIAL_SCOPE_DENIED', fields: denied, service, mayAsk };
  }
  const versions = currentVersions(service, fields);
  if ('unset' in versions) return { refused: 'SECRET_NOT_SET', fields: versions.unset, service };
  const policies = await vault.caches.policies.through(
    tenantId,
    epoch,
    async () => (await vault.streams.load(policySets, { tenantId, id: tenantId })).state,
  );
  const question = { agentId: capability.agentId, serviceName: service.name, fields };
  const verdict = evaluatePolicies(policies, question);
  if (verdict.effect === 'deny') return { refused: 'POLICY_DENIED', service };
  const snapshot = {
    fields: versions.set,
    config_version: service.config_version,
    policies: verdict.matched,
  };
  const sessionId = capability.agentSessionId;
  const grantKeyId = grantKeyIdOf({ tenantId, sessionId, serviceId: service.id, fields });
  const requirement = verdict.effect === 'require_approval' ? verdict.requirement : undefined;
  const accessEndsAt = firstEnd({ service, fields }, facts);
  const policyNames = new Map(
    requirement === undefined ? [] : policies.map(({ id, name }) => [id, name] as const),
  );
  const checked = { request, session, service, fields, requirement, snapshot, policyNames };
  return { ...checked, grantKeyId, accessEndsAt };
}

/**
 * A denial that depends only on rows that may lag is confirmed by reading again. It then uses the rows that were read
 * last.
 */
async function deniedFields(vault: Dependencies, wanted: Wanted, session: VerifiedSession) {
  const { facts, factsRequest, changes } = session;
  const forGood = deniedForGood(wanted);
  if (forGood.length > 0) return { denied: forGood, facts };
  let latest = facts;
  let denied = deniedByNews(wanted, latest);
  // Facts that identity itself has just stated cannot lag.
  if (facts.agent?.changed_at === 'now') return { denied, facts };
  for (const pauseMs of REREAD_AFTER_MS) {
    if (denied.length === 0) break;
    await vault.clock.sleep(pauseMs);
    latest = await vault.facts.read(factsRequest, changes, true);
    denied = deniedByNews(wanted, latest);
  }
  return { denied, facts: latest };
}
