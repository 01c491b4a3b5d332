/** The calls that approval and vault make to authz: who holds a relation now (`docs/design/authz.md`, Leads). */
import Type from 'typebox';
import { internalCalls, type RequestOf, TENANT_REFUSALS } from './internal-call.ts';

/** The most holders that callers accept. A response with one more means that there are too many. */
export const HOLDERS_MAX = 100;
/** The most checks of one call. */
const HOLDER_CHECKS_MAX = 100;

const text = Type.String({ minLength: 1, maxLength: 1_024 });
const heldRelation = { relation: text, object_type: text, object_id: text };

export const authzCalls = internalCalls({
  holders: {
    name: 'internal_authz_holders',
    summary: 'The users who hold a relation to an object now, at most 101',
    method: 'post',
    path: '/internal/v1/authz/holders',
    body: Type.Object({ tenant_id: text, ...heldRelation }),
    ok: Type.Object({
      user_ids: Type.Array(Type.String(), { maxItems: HOLDERS_MAX + 1 }),
      /** Whether every user of the tenant has this relation. */
      wildcard: Type.Boolean(),
    }),
    refusals: TENANT_REFUSALS,
    tenantField: 'tenant_id',
  },
  check: {
    name: 'internal_authz_check',
    summary: 'Which of these users hold these relations now, in the order of the question',
    method: 'post',
    path: '/internal/v1/authz/check',
    body: Type.Object({
      tenant_id: text,
      checks: Type.Array(Type.Object({ user_id: text, ...heldRelation }), {
        minItems: 1,
        maxItems: HOLDER_CHECKS_MAX,
      }),
    }),
    ok: Type.Object({ allowed: Type.Array(Type.Boolean()) }),
    refusals: TENANT_REFUSALS,
    tenantField: 'tenant_id',
  },
});

export type HolderCheck = RequestOf<(typeof authzCalls)['check']>['checks'][number];
