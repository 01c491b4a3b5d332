/** The events of vault: services, secrets (never their values), policies, and grants of credentials. */

import { fact, id, instant, nullable, number, oneOf, text, texts } from '../fields.ts';
import { integrationEvents } from '../integration-event.ts';
import { actionDenied } from './action-denied.ts';

const service = {
  service_id: id('The registered service.'),
  service_name: text('Its name.', 'warehouse'),
};
const names = texts('Names of the fields, never their values.', 'username', 'password');

const grant = {
  grant_id: id('The grant.'),
  session_id: id('The agent session that it was made for.'),
  agent_id: id('The agent.'),
  user_id: nullable(id('The user on whose behalf the agent acts; null when it acts for itself.')),
  service_name: text('Name of the registered service.', 'warehouse'),
  fields: names,
};
const approval_id = nullable(id('The approval that it rests on; null where none was needed.'));
const credential_type = text('Kind of the credentials.', 'static');

const secretVersion = {
  ...service,
  field: text('Name of the field.', 'password'),
  version: number('Version of its value.', 1),
};

const currentChanged = {
  ...secretVersion,
  replaced: nullable(number('The version that was current before; null if none was.', 1)),
};

const policy = {
  policy_id: id('The policy.'),
  version: number('Version of the policy.', 1),
  service: text('Name of the service that it is about, or `*` for all.', 'warehouse'),
  effect: oneOf(['require_approval', 'deny'], 'What it does where it fits.'),
};

export const vaultEvents = integrationEvents('vault', {
  'vault.credential.granted': fact('An agent was handed credentials.', ['webhooks'], {
    ...grant,
    credential_type,
    approval_id,
    granted_at: instant('When.'),
    expires_at: instant('When they are to be fetched anew.'),
  }),
  'vault.credential.reused': fact(
    'An agent was handed the credentials of a live grant again.',
    ['audit'],
    {
      ...grant,
      approval_id,
      count: number('How often within the second that this stands for.', 1),
    },
  ),
  'vault.credential.refused': fact('An agent asked for credentials and got none.', ['audit'], {
    agent_id: id('The agent.'),
    session_id: nullable(id('Its session, where it had one.')),
    service_id: nullable(id('The registered service; null where no such service is registered.')),
    service_name: nullable(
      text('Its name; null where no such service is registered.', 'warehouse'),
    ),
    fields: nullable(names),
    code: text('The error code that was answered.', 'field_not_granted'),
    count: number('How many refusals this stands for.', 1),
  }),
  'vault.credential.revoked': fact('A grant ended before its time.', ['audit'], {
    ...grant,
    cause: text(
      'Why: `admin`, `session_ended`, `agent_suspended`, `agent_deleted`, `user_disabled`, `user_deleted` or another word.',
      'session_ended',
    ),
    revoked_at: instant('When.'),
  }),
  'vault.service.registered': fact('A service was registered.', ['audit'], {
    ...service,
    credential_type,
    fields: names,
  }),
  'vault.service.changed': fact('The registration of a service was changed.', ['audit'], {
    ...service,
    changed: texts('Names of what has changed.', 'description'),
  }),
  'vault.service.deleted': fact('A service is registered no longer.', ['audit'], service),
  'vault.secret.written': fact('A field got a new value.', ['audit'], secretVersion),
  'vault.secret.promoted': fact('A version of a field became current.', ['audit'], currentChanged),
  'vault.secret.rolled_back': fact(
    'A version of a field that was current before is current again; the one that it replaces is pending.',
    ['audit'],
    currentChanged,
  ),
  'vault.secret.revealed': fact('An administrator read a value back.', ['audit'], {
    ...secretVersion,
    reason: text('Why, in the words of the administrator.', 'The vendor asked for the account.'),
  }),
  'vault.secret.destroyed': fact(
    'A version of a value was destroyed for good.',
    ['audit'],
    secretVersion,
  ),
  'vault.policy.added': fact('A policy was added.', ['audit'], policy),
  'vault.policy.changed': fact(
    'A policy was changed; the values are those after the change.',
    ['audit'],
    policy,
  ),
  'vault.policy.removed': fact('A policy was removed.', ['audit'], policy),
  'action.denied': actionDenied,
});
