/** What the audit projector publishes of itself: exports, and refusals at its door. */
import Type from 'typebox';
import { actionDenied } from './action-denied.ts';
import { fact, number, texts } from './fields.ts';
import { integrationEvents } from './integration-event.ts';

export const auditEvents = integrationEvents('audit', {
  'export.made': fact('Someone has taken rows of the audit log with them.', {
    format: Type.Literal('csv', { description: 'Form of the export.' }),
    rows: number('How many rows it held.', 0),
    filters: texts('Names of the filters that were sent, never their values.', 'category', 'from'),
  }),
  'action.denied': actionDenied,
});
