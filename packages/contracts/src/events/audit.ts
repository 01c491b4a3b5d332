/** The events of the audit service itself: exports, removals of old rows, and refused requests. */
import Type from 'typebox';
import { fact, moment, number, texts } from '../fields.ts';
import { integrationEvents } from '../integration-event.ts';
import { actionDenied } from './action-denied.ts';

export const auditEvents = integrationEvents('audit', {
  'export.made': fact('Someone has taken rows of the audit log with them.', ['audit'], {
    format: Type.Literal('csv', { description: 'Form of the export.' }),
    rows: number('How many rows it held.', 0),
    filters: texts('Names of the filters that were sent, never their values.', 'category', 'from'),
  }),
  'retention.applied': fact(
    'Rows of the audit log were removed, older than their tenant keeps them.',
    ['audit'],
    {
      before: moment('What happened before it was removed.'),
      rows: number('How many rows were removed.', 1),
    },
  ),
  'action.denied': actionDenied,
});
