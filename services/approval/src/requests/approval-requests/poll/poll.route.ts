import { endpoint } from '@cardea/http';
import type { ServiceDependencies, SetHolders } from '@cardea/service';
import type { IdentityFacts } from '../../identity-facts/identity-facts.ts';
import { POLL_WAIT_MS } from '../../limits.ts';
import type { Changes } from '../changes.ts';
import { mayRead } from '../decider.ts';
import type { Polls } from '../polls.ts';
import { readRequest, showRequest } from '../read-request.ts';
import { NO_KEYS, requestId, requestShape } from '../request-shape.ts';
import { untilDecided } from '../until-decided.ts';

type PollDependencies = Pick<
  ServiceDependencies,
  'streams' | 'clock' | 'systemCommand' | 'sealer'
> & {
  readonly changes: Changes;
  readonly setHolders: SetHolders;
  readonly identityFacts: IdentityFacts;
  readonly polls: Polls;
  readonly pollWaitMs?: number;
};

export const pollRequest = (needs: PollDependencies) =>
  endpoint(
    {
      tag: 'Approval requests',
      name: 'poll_approval_request',
      access: { class: 'things', applicationScope: 'account' },
      summary: 'An approval request once it is decided, or as it stands after 30 seconds',
      description:
        'Answers at once if the request is decided, otherwise when it is decided, or after 30 seconds as it stands then. A caller may have 10 such requests open.',
      method: 'get',
      path: '/api/v1/ciba/requests/{id}/poll',
      who: ['user', 'agent_token'],
      notTaken: NO_KEYS,
      params: requestId,
      ok: requestShape,
      refusals: { request_not_found: 404, too_many_polls: 429 },
    },
    async (request) => {
      const { params, principal, tenantId } = request;
      const now = await readRequest(needs, tenantId, params.id);
      if (
        now.status === 'none' ||
        !(await mayRead(needs, principal, { request: now, now: needs.clock.now() }))
      ) {
        return { refused: 'request_not_found' };
      }
      if (now.status !== 'pending') return { ok: await showRequest(needs, now) };
      const waitMs = needs.pollWaitMs ?? POLL_WAIT_MS;
      const found = await untilDecided(needs, request, { id: params.id, waitMs });
      if (found === 'too_many_polls') {
        return { refused: 'too_many_polls', headers: { 'Retry-After': '5' } };
      }
      return { ok: await showRequest(needs, found) };
    },
  );
