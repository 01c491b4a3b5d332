import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import { WRITES } from '../../administration.ts';
import type { Epochs } from '../../epochs.ts';
import type { IdentityFacts } from '../../identity-facts/identity-facts.ts';
import { namesKnownUsers } from '../approver.ts';
import { policySets } from '../policy.ts';
import { PolicyId, PolicyPatch, PolicyShape, shownPolicy } from '../policy-shape.ts';
import { changePolicy } from './change.ts';

type ChangeDependencies = Pick<ServiceDependencies, 'streams' | 'command'> & {
  readonly epochs: Epochs;
  readonly facts: IdentityFacts;
};

export const changePolicyRoute = (vault: ChangeDependencies): Endpoint =>
  endpoint(
    {
      tag: 'Vault',
      name: 'change_approval_policy',
      machine: 'vault:write',
      access: { class: 'settings', stepUp: 'users' },
      repeat: 'never',
      summary: 'Change a policy; grants made under the old version are not handed out again',
      description:
        'Changes a policy; what the body does not name stays. The change makes a new version: grants that rest on the old one are not handed out again.',
      method: 'patch',
      path: '/api/v1/vault/approval-policies/{id}',
      who: WRITES,
      params: PolicyId,
      body: PolicyPatch,
      ok: PolicyShape,
      refusals: { unknown_approver: 400, policy_not_found: 404 },
    },
    async (request) => {
      const { body: terms, params, tenantId } = request;
      if (!(await namesKnownUsers(vault.facts, tenantId, terms))) {
        return { refused: 'unknown_approver' };
      }
      const command = await vault.command(request);
      const decided = await vault.streams.decideOn(policySets, tenantId, command, (policies) =>
        changePolicy({ id: params.id, terms, now: command.now }, policies),
      );
      if (!decided.accepted) return { refused: decided.reason };
      const policy = decided.state.find(({ id }) => id === params.id);
      if (policy === undefined) return { refused: 'policy_not_found' };
      await vault.epochs.changed(tenantId);
      return { ok: shownPolicy(policy), wrote: decided.position };
    },
  );
