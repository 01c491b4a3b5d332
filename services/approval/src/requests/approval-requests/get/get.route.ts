import { endpoint } from '@cardea/http';
import type { Approval } from '../../../approval.ts';
import { readRequest, showRequest } from '../reading.ts';
import { COMMON, maySee, NO_KEYS, requestId, requestShape } from '../request-shape.ts';

export const getRequest = (approval: Approval) =>
  endpoint(
    {
      ...COMMON,
      name: 'get_approval_request',
      summary: 'One approval request',
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
      if (request.status === 'none' || !maySee(principal, request.facts)) {
        return { refused: 'request_not_found' };
      }
      return { ok: await showRequest(approval, request) };
    },
  );
