/**
 * A known caller was refused (`action.denied`, in the same form on every topic): 401 and 403 anywhere; 409, 410, 422
 * and 429 for requests that change something.
 */
import Type from 'typebox';
import { fact, id, nullable, oneOf, text } from '../fields.ts';

const target = Type.Object(
  {
    type: text('Kind of the thing.', 'user'),
    id: nullable(id('Its id, where the call named one.')),
  },
  { description: 'What the call was about.' },
);

export const actionDenied = fact(
  'A caller who was known was refused: 401 or 403, or on a writing endpoint 409, 410, 422 or 429.',
  ['audit'],
  {
    area: oneOf(
      ['user', 'admin', 'agent', 'vault', 'authorization', 'fga'],
      'The part of the API that the endpoint belongs to.',
    ),
    operation: Type.String({
      maxLength: 100,
      description: "The endpoint's name.",
      examples: ['create_agent'],
    }),
    reason: Type.String({
      maxLength: 100,
      description: 'The error code that was answered.',
      examples: ['forbidden'],
    }),
    status: Type.Integer({
      minimum: 400,
      maximum: 599,
      description: 'The HTTP status that was answered.',
      examples: [403],
    }),
    target: nullable(target),
    count: Type.Integer({
      minimum: 1,
      description: "How many refusals this stands for: more than 1 where a minute's were folded.",
    }),
  },
);
