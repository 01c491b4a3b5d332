/**
 * The facts of a request that only administrators and persons who may decide it see: facts that help to judge it, and
 * the decisions that they could make. Agents see none of them.
 */
import { contextLocation, type Sealed } from '@cardea/crypto';
import type { Database } from '@cardea/read-models';
import type { ServiceDependencies } from '@cardea/service';
import type { IdentityFacts } from '../identity-facts/identity-facts.ts';
import { agentHistory } from './agent-history.ts';
import { allowedDecisions } from './allowed-decisions.ts';
import { type ExistingRequest, type RequestFacts, streamOf } from './request.ts';
import type { Shown } from './request-shape.ts';

type Dependencies = Parameters<typeof allowedDecisions>[0] &
  Pick<ServiceDependencies, 'sealer'> & {
    readonly database: Database;
    readonly identityFacts: Pick<IdentityFacts, 'nameOrAddress'>;
  };

type FactsForPersons = Pick<
  Shown,
  | 'policies'
  | 'ip'
  | 'purpose'
  | 'grant_ttl_seconds'
  | 'deputy_for_name'
  | 'first_request'
  | 'last_approved_at'
  | 'allowed_decisions'
  | 'approve_refusal'
>;

export async function factsForPersons(
  approval: Dependencies,
  request: ExistingRequest,
  viewer: { readonly userId: string; readonly now: Date },
): Promise<FactsForPersons> {
  const { facts } = request;
  const { streamId, field } = contextLocation(facts.tenant_id, new Date(facts.created_at), 'ip');
  const opened = (sealed: Sealed | undefined, place: { streamId: string; field: string }) =>
    sealed === undefined ? null : approval.sealer.open(sealed, place);
  const [allowed, history, ip, purpose, absent] = await Promise.all([
    allowedDecisions(approval, request, viewer),
    historyOf(approval, facts),
    opened(facts.ip, { streamId, field }),
    opened(facts.purpose, { streamId: streamOf(facts.id), field: 'purpose' }),
    facts.deputy_for === undefined
      ? null
      : approval.identityFacts.nameOrAddress(facts.tenant_id, facts.deputy_for),
  ]);
  const grantTtlSeconds = facts.binding?.grant_ttl_seconds;
  const policies = facts.binding?.policies.map(({ id, name }) => name ?? id);
  return {
    ...(policies === undefined ? {} : { policies }),
    ...(ip === null ? {} : { ip }),
    ...(purpose === null ? {} : { purpose }),
    ...(grantTtlSeconds === undefined ? {} : { grant_ttl_seconds: grantTtlSeconds }),
    ...(absent === null ? {} : { deputy_for_name: absent }),
    ...history,
    ...allowed,
  };
}

/** A request that a person makes in the name of an agent says nothing about the agent. */
async function historyOf({ database }: Dependencies, facts: RequestFacts) {
  if (facts.origin !== 'vend' && facts.origin !== 'agent') return {};
  const sql = database.tenant(facts.tenant_id);
  const { isFirst, lastApprovedAt } = await agentHistory(sql, facts);
  return {
    first_request: isFirst,
    last_approved_at: lastApprovedAt?.toISOString() ?? null,
  };
}
