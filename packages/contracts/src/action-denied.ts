/**
 * A known caller was refused (`action.denied`, on every topic, the same shape): 401 and 403 anywhere,
 * 409, 410, 422 and 429 where something was to change.
 */
import Type from 'typebox';
import { nullable } from './integration-event.ts';

export const actionDenied = Type.Object({
  area: Type.Union([
    Type.Literal('user'),
    Type.Literal('admin'),
    Type.Literal('agent'),
    Type.Literal('vault'),
    Type.Literal('authorization'),
    Type.Literal('fga'),
  ]),
  /** Name of the endpoint. */
  operation: Type.String({ maxLength: 100 }),
  /** The error code that was answered. */
  reason: Type.String({ maxLength: 100 }),
  status: Type.Integer({ minimum: 400, maximum: 599 }),
  target: nullable(Type.Object({ type: Type.String(), id: nullable(Type.String()) })),
  /** How many refusals this stands for; above 1 where a minute's were folded into one. */
  count: Type.Integer({ minimum: 1 }),
});
