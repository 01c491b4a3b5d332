/** What approval publishes: requests of agents, and what people decided. Never a reason's text or a code. */
import Type from 'typebox';
import { actionDenied } from './action-denied.ts';
import { integrationEvents, nullable } from './integration-event.ts';

const instant = Type.String({ format: 'date-time' });

/** Stands in every event of a request (`spec.md` 2.11). */
const request = {
  id: Type.String(),
  agent_id: Type.String(),
  agent_name: Type.String(),
  user_id: Type.String(),
  action: Type.String(),
  resource: Type.Optional(Type.String()),
  severity: Type.Union([Type.Literal('low'), Type.Literal('medium'), Type.Literal('high')]),
  ttl_seconds: Type.Integer({ minimum: 1 }),
  created_at: instant,
  expires_at: instant,
};

const answered = { responded_by: Type.String(), responded_at: instant };

export const approvalEvents = integrationEvents('approval', {
  'approval.requested': Type.Object({
    ...request,
    origin: Type.Union([
      Type.Literal('vend'),
      Type.Literal('agent'),
      Type.Literal('admin'),
      Type.Literal('self'),
    ]),
    /** True where webhooks are to tell the user. */
    notify_webhook: Type.Boolean(),
    /** The agent session of a request that vault opened. */
    session_id: nullable(Type.String()),
  }),
  'approval.approved': Type.Object({ ...request, ...answered }),
  'approval.denied': Type.Object({
    ...request,
    ...answered,
    cause: Type.Union([Type.Literal('user'), Type.Literal('binding_code')]),
  }),
  'approval.expired': Type.Object({
    ...request,
    cause: Type.Union([
      Type.Literal('time'),
      Type.Literal('agent'),
      Type.Literal('session'),
      Type.Literal('user'),
    ]),
  }),
  'approval.consumed': Type.Object({ ...request, grant_id: Type.String() }),
  'approval.decision_refused': Type.Object({
    ...request,
    cause: Type.Union([Type.Literal('agent_token'), Type.Literal('binding_code')]),
  }),
  'action.denied': actionDenied,
});
