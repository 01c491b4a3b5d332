import { accept, type Decision } from '@cardea/event-store';
import type { ApprovalRequest, RequestEvent } from '../requests/requests.module.ts';

/** Records the outcome of a notification, once per channel, in the stream of its request. */
export const notified = (
  event: RequestEvent,
  request: ApprovalRequest,
): Decision<RequestEvent, never> => (request.status === 'none' ? accept() : accept(event));
