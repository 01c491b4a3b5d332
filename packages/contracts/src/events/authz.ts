/** The events of authz: every change of a relationship tuple, and every change that was refused. */

import { fact, freeText, id, instant, nullable, number, text } from '../fields.ts';
import { integrationEvents } from '../integration-event.ts';
import { actionDenied } from './action-denied.ts';

/** A tuple states that `subject` has `relation` to `object`. */
const fields = {
  user_type: text('Kind of the subject.', 'user'),
  user_id: freeText(text("The subject's id, as the tenant chose it.", '4711')),
  relation: text(
    "What the subject is to the object: owner, editor, viewer, can_read, can_write, member, parent, or a name of the tenant's own model.",
    'viewer',
  ),
  object_type: text('Kind of the object.', 'document'),
  object_id: freeText(text("The object's id, as the tenant chose it.", 'handbook')),
};
const tuple = { tuple_id: id('The tuple.'), ...fields };
const repeated = {
  tuple_id: nullable(id('The tuple that stood already; null where there was none to delete.')),
  ...fields,
};

export const authzEvents = integrationEvents('authz', {
  'tuple.written': fact('A relationship holds from now on.', ['audit'], {
    ...tuple,
    created_at: instant('When it was written.'),
  }),
  'tuple.deleted': fact('A relationship holds no longer.', ['audit'], tuple),
  'tuple.write_repeated': fact(
    'A relationship was written that held already; nothing has changed.',
    ['audit'],
    repeated,
  ),
  'tuple.delete_repeated': fact(
    'A relationship was deleted that did not hold; nothing has changed.',
    ['audit'],
    repeated,
  ),
  'model.published': fact("The tenant's model of relations was replaced.", ['audit'], {
    version: number('Version of the model.', 1),
  }),
  'action.denied': actionDenied,
});
