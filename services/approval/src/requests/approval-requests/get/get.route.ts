import { endpoint } from '@cardea/http';
import type { FactCopies, ServiceDependencies, SetHolders } from '@cardea/service';
import type { IdentityFacts } from '../../identity-facts/identity-facts.ts';
import type { Changes } from '../changes.ts';
import { mayRead } from '../decider.ts';
import { factsForPersons } from '../facts-for-persons.ts';
import { readRequest, showRequest } from '../read-request.ts';
import { NO_KEYS, requestId, requestShape } from '../request-shape.ts';

type GetDependencies = Pick<
  ServiceDependencies,
  'streams' | 'clock' | 'systemCommand' | 'sealer' | 'database'
> & {
  readonly changes: Changes;
  readonly setHolders: SetHolders;
  readonly identityFacts: IdentityFacts;
  readonly factCopies: Pick<FactCopies, 'user'>;
};

export const getRequest = (approval: GetDependencies) =>
  endpoint(
    {
      tag: 'Approval requests',
      name: 'get_approval_request',
      access: { class: 'things', applicationScope: 'account' },
      summary: 'One approval request',
      description:
        'Shows one approval request to the user who decides it, to the agent that it is about, and to administrators; to persons with what helps to judge it, and with the decisions that they could make now.',
      method: 'get',
      path: '/api/v1/ciba/requests/{id}',
      who: ['user', 'agent_token'],
      notTaken: NO_KEYS,
      params: requestId,
      ok: requestShape,
      refusals: { request_not_found: 404 },
    },
    async ({ params, principal, tenantId }) => {
      const request = await readRequest(approval, tenantId, params.id);
      const now = approval.clock.now();
      if (request.status === 'none' || !(await mayRead(approval, principal, { request, now }))) {
        return { refused: 'request_not_found' };
      }
      const [shown, more] = await Promise.all([
        showRequest(approval, request),
        principal.kind === 'user'
          ? factsForPersons(approval, request, { userId: principal.id, now })
          : undefined,
      ]);
      return { ok: { ...shown, ...more } };
    },
  );
