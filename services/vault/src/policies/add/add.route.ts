import { type Endpoint, endpoint } from '@cardea/http';
import { alreadyCreated, newId, reusedKey, type ServiceDependencies } from '@cardea/service';
import { WRITES } from '../../administration.ts';
import type { Epochs } from '../../epochs.ts';
import type { IdentityFacts } from '../../identity-facts/identity-facts.ts';
import { namesKnownUsers } from '../approver.ts';
import { policySets } from '../policy.ts';
import { NewPolicy, PolicyShape, shownPolicy, withDefaults } from '../policy-shape.ts';
import { addPolicy } from './add.ts';

type AddDependencies = Pick<ServiceDependencies, 'streams' | 'command' | 'ids'> & {
  readonly epochs: Epochs;
  readonly facts: IdentityFacts;
};

export const addPolicyRoute = (vault: AddDependencies): Endpoint =>
  endpoint(
    {
      tag: 'Vault',
      name: 'add_approval_policy',
      machine: 'vault:write',
      access: { class: 'settings', stepUp: 'users' },
      summary: 'Add a policy that asks for approval, or denies',
      description:
        'Adds a policy that requires an approval before fields of a service are handed out, or denies it. `*` stands for all fields or all agents. Where several policies govern a vend, a denial wins and the strictest terms count. A tenant has at most 100 policies.',
      method: 'post',
      path: '/api/v1/vault/approval-policies',
      who: WRITES,
      body: NewPolicy,
      ok: PolicyShape,
      response: { status: 201 },
      refusals: {
        unknown_approver: 400,
        too_many_policies: 409,
        already_created: 409,
        idempotency_key_reused: 422,
      },
      repeat: 'by_key',
    },
    async (request) => {
      const { tenantId } = request;
      const terms = withDefaults(request.body);
      if (!(await namesKnownUsers(vault.facts, tenantId, terms))) {
        return { refused: 'unknown_approver' };
      }
      const command = await vault.command(request);
      const id = newId(vault, request, 'policy');
      const request_hash = request.idempotency?.bodyHash ?? null;
      const decided = await vault.streams.decideOn(policySets, tenantId, command, (policies) =>
        addPolicy({ id, terms, request_hash, now: command.now }, policies),
      );
      if (!decided.accepted) return { refused: decided.reason };
      const policy = decided.state.find((each) => each.id === id);
      if (policy === undefined) return alreadyCreated(id);
      const reused = reusedKey(request_hash, policy.request_hash);
      if (reused !== undefined) return reused;
      await vault.epochs.changed(tenantId);
      return { ok: shownPolicy(policy), wrote: decided.position };
    },
  );
