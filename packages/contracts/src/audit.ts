/** What the audit projector publishes of itself: exports, and refusals at its door. */
import Type from 'typebox';
import { actionDenied } from './action-denied.ts';
import { integrationEvents } from './integration-event.ts';

export const auditEvents = integrationEvents('audit', {
  'export.made': Type.Object({
    format: Type.Literal('csv'),
    rows: Type.Integer({ minimum: 0 }),
    /** Names of the filters that were sent, never their values. */
    filters: Type.Array(Type.String()),
  }),
  'action.denied': actionDenied,
});
