/**
 * `context` in the `data` of every integration event: the caller, the address and the application of the
 * request.
 */
import Type from 'typebox';
import { id, lapsing, nullable, text } from './fields.ts';

export const contextSchema = Type.Object(
  {
    ip: lapsing(text('Address of the caller.', '192.0.2.7')),
    user_agent: lapsing(
      text('Header `User-Agent` of the caller, 512 characters at most.', 'curl/8.5.0'),
    ),
    app_id: nullable(
      text(
        "Application of the caller's key or session; else that of header `X-Service-App-Id`.",
        'web-shop',
      ),
    ),
    app_claimed: Type.Optional(
      Type.Literal(true, {
        description: 'There where `app_id` is the word of the caller, from the header alone.',
      }),
    ),
    agent_id: nullable(id('Agent that acted on behalf of the user who stands as the actor.')),
    request_id: nullable(
      text('Request that led to the event, as its answer named it.', 'req_8f14e45f'),
    ),
  },
  {
    additionalProperties: false,
    description: 'Who called, from where and through what; null where unknown.',
  },
);
