import { accept, type Decision } from '@cardea/event-store';
import { type ApprovalEscalated, type ApprovalRequest, isOverdue } from '../request.ts';
import { escalationOf, isEscalated } from '../who-decides.ts';

/** Records the escalation once. For readers, the request has been escalated since its time. */
export function escalate(now: Date, request: ApprovalRequest): Decision<ApprovalEscalated, never> {
  if (request.status !== 'pending' || request.escalated === true) return accept();
  const escalation = escalationOf(request.facts);
  if (escalation === undefined || isOverdue(request, now) || !isEscalated(request, now)) {
    return accept();
  }
  const { channels, severity } = request.facts;
  const data = { to: escalation.to, escalated_at: now.toISOString(), channels, severity };
  return accept({ type: 'ApprovalEscalated', data });
}
