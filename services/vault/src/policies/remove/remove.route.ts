import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { WRITES } from '../../administration.ts';
import type { Epochs } from '../../epochs.ts';
import { policySets } from '../policy.ts';
import { PolicyId } from '../policy-shape.ts';
import { removePolicy } from './remove.ts';

type RemoveDependencies = Pick<ServiceDependencies, 'streams' | 'command'> & {
  readonly epochs: Epochs;
};

export const removePolicyRoute = (vault: RemoveDependencies): Endpoint =>
  endpoint(
    {
      tag: 'Vault',
      name: 'remove_approval_policy',
      machine: 'vault:write',
      access: { class: 'settings', stepUp: 'users' },
      repeat: 'safe',
      summary: 'Remove a policy',
      description:
        'Removes a policy. Removing the last one that governs a vend allows that vend without an approval.',
      method: 'delete',
      path: '/api/v1/vault/approval-policies/{id}',
      who: WRITES,
      params: PolicyId,
      ok: Type.Object({ status: Type.Literal('policy deleted') }),
      refusals: { policy_not_found: 404 },
    },
    async (request) => {
      const { params, tenantId } = request;
      const command = await vault.command(request);
      const decided = await vault.streams.decideOn(policySets, tenantId, command, (policies) =>
        removePolicy(params.id, policies),
      );
      if (!decided.accepted) return { refused: decided.reason };
      await vault.epochs.changed(tenantId);
      return { ok: { status: 'policy deleted' as const }, wrote: decided.position };
    },
  );
