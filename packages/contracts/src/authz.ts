/** What authz publishes: each change of a relationship tuple, and each that came to nothing. */
import Type from 'typebox';
import { actionDenied } from './action-denied.ts';
import { integrationEvents, nullable } from './integration-event.ts';

/** Subject IS relation OF object. */
const fields = {
  user_type: Type.String(),
  user_id: Type.String(),
  relation: Type.Union([
    Type.Literal('owner'),
    Type.Literal('editor'),
    Type.Literal('viewer'),
    Type.Literal('can_read'),
    Type.Literal('can_write'),
    Type.Literal('member'),
    Type.Literal('parent'),
  ]),
  object_type: Type.String(),
  object_id: Type.String(),
};
const tuple = { tuple_id: Type.String(), ...fields };
/** The tuple stood already, or (null) there was none to delete. */
const repeated = { tuple_id: nullable(Type.String()), ...fields };

export const authzEvents = integrationEvents('authz', {
  'tuple.written': Type.Object({ ...tuple, created_at: Type.String({ format: 'date-time' }) }),
  'tuple.deleted': Type.Object(tuple),
  'tuple.write_repeated': Type.Object(repeated),
  'tuple.delete_repeated': Type.Object(repeated),
  'action.denied': actionDenied,
});
