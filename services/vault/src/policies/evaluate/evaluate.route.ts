import { EscalationShape, named } from '@cardea/contracts';
import { type Endpoint, endpoint } from '@cardea/http';
import { type ServiceDependencies, type SetHolders, setHolders } from '@cardea/service';
import Type from 'typebox';
import { READS } from '../../administration.ts';
import type { IdentityFacts } from '../../identity-facts/identity-facts.ts';
import { approverOf } from '../approver.ts';
import { type ApprovalRequirement, evaluatePolicies } from '../evaluate-policies.ts';
import { policySets } from '../policy.ts';
import { ApproverShape, PolicyVersionShape, SeverityShape } from '../policy-shape.ts';

type EvaluateDependencies = Pick<ServiceDependencies, 'streams' | 'peers' | 'clock'> & {
  readonly facts: IdentityFacts;
};

const text = (longest: number) => Type.String({ minLength: 1, maxLength: longest });
const nullable = <S extends Type.TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

export const evaluatePoliciesRoute = (vault: EvaluateDependencies): Endpoint => {
  const holders = setHolders(vault);
  return endpoint(
    {
      tag: 'Vault',
      name: 'evaluate_approval_policies',
      machine: 'vault:read',
      access: { class: 'things', applicationScope: 'roles' },
      repeat: 'safe',
      summary: 'What the policies would say to a request, without making one',
      description:
        'Tells what the policies say to a request for fields of a service: whether it is allowed, denied or requires an approval, by which policies, and who could approve. No request is made.',
      method: 'post',
      path: '/api/v1/vault/approval-policies/evaluate',
      who: READS,
      body: Type.Object({
        agent_id: text(128),
        service_name: text(128),
        fields: Type.Array(text(64), { minItems: 1, maxItems: 50 }),
      }),
      ok: Type.Object({
        effect: named('VendEffect', Type.Enum(['allow', 'require_approval', 'deny'])),
        matched: Type.Array(PolicyVersionShape),
        /** Null if no approval is required, or nobody can give it. */
        approver: nullable(ApproverShape),
        /** Why nobody can give it, in cases that an administrator can correct. */
        reason: Type.Optional(
          Type.Enum(['approver_not_vouched', 'nobody_holds', 'too_many', 'approver_lost']),
        ),
        severity: nullable(SeverityShape),
        /** How many have to approve. Null if no approval is required. */
        needed: nullable(Type.Integer({ minimum: 1 })),
        /** How long the request would wait. Null if no approval is required. */
        ttl_seconds: nullable(Type.Integer()),
        /** Who may also decide, and after how long. Null if nobody may. */
        escalate: nullable(EscalationShape),
        /** How many members of a set could approve now. Null if no set has to approve. */
        holders: nullable(Type.Integer({ minimum: 0 })),
      }),
      refusals: {},
    },
    async ({ body, tenantId }) => {
      const { state } = await vault.streams.load(policySets, { tenantId, id: tenantId });
      const verdict = evaluatePolicies(state, {
        agentId: body.agent_id,
        serviceName: body.service_name,
        fields: body.fields,
      });
      const requirement = verdict.effect === 'require_approval' ? verdict.requirement : undefined;
      const approver =
        requirement &&
        (await knownApprover(vault, { tenantId, agentId: body.agent_id }, requirement));
      const now = requirement && (await holdersNow(holders, tenantId, requirement));
      return {
        ok: {
          effect: verdict.effect,
          matched: [...verdict.matched],
          approver: null,
          ...approver,
          ...now,
          severity: requirement?.severity ?? null,
          needed: requirement?.approvals_needed ?? null,
          ttl_seconds: requirement?.ttl_seconds ?? null,
          escalate: requirement?.escalate ?? null,
          holders: now?.holders ?? null,
        },
      };
    },
  );
};

/** Looks the holders up as a vend would. The session's user, who may be excluded, is unknown here. */
async function holdersNow(
  { of }: SetHolders,
  tenantId: string,
  { approver: set, approvals_needed: needed }: ApprovalRequirement,
) {
  if (typeof set !== 'object' || 'user_id' in set) return undefined;
  const found = await of({ tenantId, set, needed, excludedUserId: undefined });
  if ('holders' in found) return { holders: found.holders.length };
  return { approver: null, reason: found.noApprover, holders: null };
}

/** A policy alone does not tell the session's user. Any other approver is looked up as at a vend. */
async function knownApprover(
  vault: EvaluateDependencies,
  of: { readonly tenantId: string; readonly agentId: string },
  requirement: ApprovalRequirement,
) {
  const { approver } = requirement;
  if (approver === 'session_user') return { approver };
  const factsRequest = { ...of, sessionId: '', tokenSessionId: '', userId: null };
  const found = await approverOf(vault, { factsRequest, changes: undefined }, requirement);
  if (approver !== 'nobody' && 'approverId' in found) return { approver };
  return 'reason' in found && found.reason !== undefined ? { reason: found.reason } : {};
}
