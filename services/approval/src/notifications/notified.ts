import { accept, type Decision } from '@cardea/event-store';
import type { ApprovalRequest, RequestEvent } from '../requests/requests.module.ts';

/** How a notification ended is told once per channel, on the request that it was about. */
export const notified = (
  event: RequestEvent,
  request: ApprovalRequest,
): Decision<RequestEvent, never> => (request.status === 'none' ? accept() : accept(event));
