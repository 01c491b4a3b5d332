/** The events of identity about API keys, agents, agent keys, delegations and agent sessions; never a secret. */
import Type from 'typebox';
import { freeText, id, moment, nullable, number, oneOf, text, texts } from '../fields.ts';

/** The fields of one registered service that an agent, a delegation or an agent session may access. */
export const serviceGrant = Type.Object(
  {
    service_name: text('Name of the registered service.', 'warehouse'),
    fields: texts('Names of its fields.', 'username', 'password'),
  },
  { additionalProperties: false },
);
/** An entry that an approval gave an agent has an end; delegations and sessions have no such entries. */
const agentServiceGrant = Type.Object(
  {
    ...serviceGrant.properties,
    until: Type.Optional(
      moment('Until when it counts; absent where it does until an administrator takes it.'),
    ),
    approval_id: Type.Optional(id('The request for access whose approval gave it.')),
  },
  { additionalProperties: false },
);
const services = Type.Array(serviceGrant, {
  description: 'What it may reach: fields of registered services.',
});

export const apiKey = {
  id: id('The key.'),
  name: freeText(text('Its name.', 'nightly export')),
  scopes: texts('What it may do.', 'fga:read'),
  environment: text('`live` or `test`.', 'live'),
  app_id: nullable(text('The application that it is bound to.', 'web-shop')),
  created_by: nullable(id('The user who made it.')),
  created_at: moment('When it was made.'),
  expires_at: nullable(moment('When it ends; null where it does not of itself.')),
};

export const agent = {
  id: id('The agent.'),
  name: freeText(text('Its name.', 'deployer')),
  description: nullable(freeText(text('What it is for.', 'Deploys the shop.'))),
  status: oneOf(['active', 'suspended'], 'Whether it may act.'),
  owner_user_id: nullable(id('The user who answers for it.')),
  app_id: nullable(text('The application that it belongs to.', 'web-shop')),
  services: Type.Array(agentServiceGrant, {
    description: 'What it may reach: fields of registered services.',
  }),
  approvers: Type.Optional(
    texts(
      "Whom it may ask besides its session's user and its owner: users, and sets by their text; absent in events of before.",
      'role:admin',
    ),
  ),
  created_at: moment('When it was made.'),
};

export const agentKey = {
  id: id('The key.'),
  agent_id: id('The agent that signs in with it.'),
  name: freeText(text('Its name.', 'runner 1')),
  created_at: moment('When it was made.'),
  expires_at: nullable(moment('When it ends; null where it does not of itself.')),
};

export const delegation = {
  id: id('The delegation.'),
  user_id: id('The user who lets the agent act for them.'),
  agent_id: id('The agent.'),
  services,
  expires_at: nullable(moment('When it ends; null where it does not of itself.')),
};

export const agentSession = {
  id: id('The agent session.'),
  agent_id: id('The agent.'),
  user_id: nullable(id('The user on whose behalf it runs; null when it runs for itself.')),
  services,
  epoch: number('Rises when `services` shrink: a capability token of an older epoch is void.'),
  expires_at: moment('When it ends, unless it is renewed.'),
};
