/** The policies of a tenant. Each event contains the whole set, so the list is read from the stream. */
import { PAGE_SIZE_DEFAULT, pageAnswer, pageQuery } from '@cardea/contracts';
import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { READS } from '../../administration.ts';
import { policySets } from '../policy.ts';
import { PolicyId, PolicyShape, shownPolicy } from '../policy-shape.ts';

type ListPoliciesDependencies = Pick<ServiceDependencies, 'streams'>;

export const listPoliciesRoute = (vault: ListPoliciesDependencies): Endpoint =>
  endpoint(
    {
      tag: 'Vault',
      name: 'list_approval_policies',
      machine: 'vault:read',
      access: { class: 'things', applicationScope: 'roles' },
      summary: 'Approval policies in the order of their creation',
      description:
        'Lists the policies of the tenant in the order of their creation, 50 unless `limit` says otherwise.',
      method: 'get',
      path: '/api/v1/vault/approval-policies',
      who: READS,
      query: Type.Object(pageQuery),
      ok: Type.Object({ policies: Type.Array(PolicyShape), ...pageAnswer }),
      refusals: {},
    },
    async ({ tenantId, query }) => {
      const { offset = 0, limit = PAGE_SIZE_DEFAULT } = query;
      const { state } = await vault.streams.load(policySets, { tenantId, id: tenantId });
      const policies = state.slice(offset, offset + limit).map(shownPolicy);
      return { ok: { policies, total: state.length, offset, limit } };
    },
  );

export const getPolicyRoute = (vault: ListPoliciesDependencies): Endpoint =>
  endpoint(
    {
      tag: 'Vault',
      name: 'get_approval_policy',
      machine: 'vault:read',
      access: { class: 'things', applicationScope: 'roles' },
      summary: 'One approval policy',
      description: 'Shows one policy, with warnings about its terms.',
      method: 'get',
      path: '/api/v1/vault/approval-policies/{id}',
      who: READS,
      params: PolicyId,
      ok: PolicyShape,
      refusals: { policy_not_found: 404 },
    },
    async ({ tenantId, params }) => {
      const { state } = await vault.streams.load(policySets, { tenantId, id: tenantId });
      const policy = state.find(({ id }) => id === params.id);
      return policy === undefined ? { refused: 'policy_not_found' } : { ok: shownPolicy(policy) };
    },
  );
