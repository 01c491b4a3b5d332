/**
 * The events of approval: requests of agents, and the decisions of users. They contain neither a reason's text nor a
 * code.
 */
import Type from 'typebox';
import {
  fact,
  flag,
  freeText,
  id,
  instant,
  nullable,
  number,
  oneOf,
  text,
  texts,
} from '../fields.ts';
import { integrationEvents } from '../integration-event.ts';
import { actionDenied } from './action-denied.ts';
import { serviceGrant } from './identity-agents-and-keys.ts';

/** Part of every event of a request (`docs/contract.md` 2.11). */
const request = {
  id: id('The request.'),
  agent_id: id('The agent that asks.'),
  agent_name: freeText(text("The agent's name when it asked.", 'deployer')),
  user_id: id('The user who is asked; of a request to a set, the text of the set.'),
  deputy_for: Type.Optional(
    id('The user in whose place that one decides as their deputy; absent without a deputy.'),
  ),
  action: freeText(text('What the agent wants to do.', 'read_credentials')),
  resource: Type.Optional(freeText(text('On what.', 'warehouse'))),
  severity: oneOf(['low', 'medium', 'high'], 'How much it matters, as the asker says.'),
  ttl_seconds: number('How long the request waits for an answer.', 1),
  created_at: instant('When it was made.'),
  expires_at: instant('When it lapses unanswered.'),
  user_vouched: Type.Optional(
    flag(
      'Whether an administrator vouched for the user, when they answered or, before, when it was made; absent in events of before.',
    ),
  ),
  set: Type.Optional(
    text(
      'The set of which everyone may decide, a role or the holders of a relation; absent where one person is asked.',
      'role:admin',
    ),
  ),
  needed: Type.Optional(
    number('How many different persons of the set have to approve; absent without a set.', 1),
  ),
};
const origin = oneOf(
  ['vend', 'agent', 'admin', 'self'],
  'Who made the request: a policy of the vault, the agent, an admin, the user.',
);
/** Later events of a request carry its origin too; events recorded before the field was added lack it. */
const later = { ...request, origin: Type.Optional(origin) };

const answered = {
  responded_by: id('The user who has answered.'),
  responded_at: instant('When they answered.'),
};

/** The fields never contain the URL or the token of a channel, because anyone who knows them can post there. */
const channel = {
  channel_id: id('The channel.'),
  format: oneOf(['slack', 'teams', 'discord', 'ntfy'], 'The program that it leads to.'),
  origin: text('Scheme, host and port of its address.', 'https://hooks.slack.com'),
  recipient: nullable(
    id('The user whose requests it tells, or the set as text; null: those of all users.'),
  ),
};

export const approvalEvents = integrationEvents('approval', {
  'approval.requested': fact('An agent asks a user for an approval.', ['webhooks'], {
    ...request,
    origin,
    notify_webhook: flag('Whether webhooks are to tell the user.'),
    session_id: nullable(id('The agent session of a request that the vault opened.')),
  }),
  'approval.given': fact(
    'One of several persons whose approval a request needs has approved; it goes on waiting.',
    ['audit'],
    {
      ...later,
      ...answered,
      given: number('How many have approved so far who still may.', 1),
      needed: number('How many have to.', 2),
    },
  ),
  'approval.escalated': fact(
    'Nobody had decided in time: from now on somebody else may decide the request too.',
    ['audit'],
    {
      ...later,
      to: text('Who may decide it besides: the id of a user, or the text of a set.', 'role:owner'),
    },
  ),
  'approval.approved': fact('The user has approved.', ['identity', 'vault', 'webhooks'], {
    ...later,
    ...answered,
    responders: Type.Optional(
      Type.Array(id('A user whose approval counts.'), {
        description: 'All whose approval counts, of a request to a set.',
      }),
    ),
    access: Type.Optional(
      Type.Object(
        {
          services: Type.Array(serviceGrant, {
            description: 'What the agent may reach from now on: fields of registered services.',
          }),
          duration_seconds: number('For how long, from the approval on.', 300),
        },
        {
          additionalProperties: false,
          description:
            'Of a request of an agent for access it lacks, and of no other: identity adds it to what the agent may reach.',
        },
      ),
    ),
  }),
  'approval.denied': fact(
    'The user has denied, or the code that binds the answer was wrong.',
    ['vault', 'webhooks'],
    {
      ...later,
      ...answered,
      cause: oneOf(['user', 'binding_code'], 'Their decision, or too many wrong codes.'),
    },
  ),
  'approval.expired': fact('The request lapsed without an answer.', ['webhooks'], {
    ...later,
    cause: oneOf(
      ['time', 'agent', 'session', 'user'],
      'Its time was over, or its agent, agent session or user is no longer there.',
    ),
  }),
  'approval.consumed': fact('An approval was used up; it serves nothing else.', ['audit'], {
    ...later,
    grant_id: nullable(
      id(
        "The grant of credentials that it was used for; null: an action of the caller's own tool.",
      ),
    ),
  }),
  'approval.decision_refused': fact(
    'An answer was not taken; the request goes on as it was.',
    ['audit'],
    {
      ...later,
      cause: oneOf(
        ['agent_token', 'binding_code'],
        "It came with an agent's token, or with a wrong code.",
      ),
    },
  ),
  'approval.codes_blocked': fact(
    'Wrong codes of a user, over all requests, have blocked them: until then no code of theirs is taken.',
    ['audit'],
    {
      user_id: id('The user who answers.'),
      level: number('How often they have been blocked since the last quiet week.', 1),
      blocked_until: instant('When codes are taken again, unless an administrator unlocks them.'),
    },
  ),
  'deputy.changed': fact('Who decides in the place of a user was changed.', ['audit'], {
    user_id: id('The user who is away.'),
    deputy: nullable(id('Who decides in their place; null: nobody any more.')),
    from: nullable(instant('From when.')),
    until: nullable(instant('Until when.')),
  }),
  'channel.created': fact('A chat or a phone is told of requests from now on.', ['audit'], channel),
  'channel.changed': fact('A channel was changed, enabled or disabled.', ['audit'], {
    ...channel,
    changed: texts('What is another now.', 'url', 'enabled'),
  }),
  'channel.deleted': fact('A channel is told of nothing any more.', ['audit'], channel),
  'action.denied': actionDenied,
});
