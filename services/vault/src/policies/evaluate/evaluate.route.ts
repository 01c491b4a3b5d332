import { type Endpoint, endpoint } from '@cardea/http';
import Type from 'typebox';
import { ADMIN, READS } from '../../door.ts';
import type { Vault } from '../../vault.ts';
import { judge } from '../judge.ts';
import { policySets } from '../policy.ts';

const text = (longest: number) => Type.String({ minLength: 1, maxLength: longest });
const nullable = <S extends Type.TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

export const evaluatePoliciesRoute = (vault: Vault): Endpoint =>
  endpoint(
    {
      ...ADMIN,
      name: 'evaluate_approval_policies',
      summary: 'What the policies would say to a request, without making one',
      method: 'post',
      path: '/api/v1/vault/approval-policies/evaluate',
      who: READS,
      body: Type.Object({
        agent_id: text(128),
        service_name: text(128),
        fields: Type.Array(text(64), { minItems: 1, maxItems: 50 }),
      }),
      ok: Type.Object({
        effect: Type.Union([
          Type.Literal('allow'),
          Type.Literal('require_approval'),
          Type.Literal('deny'),
        ]),
        matched: Type.Array(Type.Object({ id: Type.String(), version: Type.Integer() })),
        /** Null where nobody is asked, or nobody can be. */
        approver: nullable(
          Type.Union([Type.Literal('session_user'), Type.Object({ user_id: Type.String() })]),
        ),
        severity: nullable(
          Type.Union([Type.Literal('low'), Type.Literal('medium'), Type.Literal('high')]),
        ),
      }),
      refusals: {},
    },
    async ({ body, tenantId }) => {
      const { state } = await vault.streams.load(policySets, { tenantId, id: tenantId });
      const judgement = judge(state, {
        agentId: body.agent_id,
        serviceName: body.service_name,
        fields: body.fields,
      });
      const demand = judgement.effect === 'require_approval' ? judgement.demand : undefined;
      const approver = demand?.approver;
      return {
        ok: {
          effect: judgement.effect,
          matched: [...judgement.matched],
          approver: approver === undefined || approver === 'nobody' ? null : approver,
          severity: demand?.severity ?? null,
        },
      };
    },
  );
