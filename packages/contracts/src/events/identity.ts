/**
 * The events of identity: accounts, sessions, tenants, keys and agents (`docs/design/identity.md`, What it
 * tells other services). A field that is encrypted in identity's own log is null here once erased.
 */
import Type from 'typebox';
import { fact, freeText, id, moment, nullable, number, oneOf, text, texts } from '../fields.ts';
import { type DataOf, integrationEvents } from '../integration-event.ts';
import { actionDenied } from './action-denied.ts';
import { agent, agentKey, agentSession, apiKey, delegation } from './identity-agents-and-keys.ts';
import { oauthEvents } from './identity-oauth.ts';
import { loginSession, MAIL_PURPOSES, USER_CREATED_VIA, userSnapshot } from './identity-users.ts';
import {
  application,
  invitation,
  organization,
  resourceServer,
  tenant,
} from './identity-workspaces.ts';

const changed = texts('Names of what has changed.', 'display_name');
const method = text('How they signed in.', 'password');
const deleted_at = moment('When it was deleted.');
const revoked_at = moment('When it was revoked.');
const previous_until = nullable(
  moment('How long the secret before it is still taken; null where it is not.'),
);
const user = { user_id: id('The user.') };
const userId = { id: id('The user.') };
const kid = text('Id of the key, as in the public key set.', 'k-2026-11');

const accountEvents = {
  'user.created': fact('An account was made.', ['approval', 'vault', 'webhooks'], {
    ...userSnapshot,
    via: oneOf(USER_CREATED_VIA, 'How the account came about.'),
  }),
  'user.updated': fact(
    'Profile, roles or `vouched` of a user were changed; values are those after it.',
    ['approval', 'vault'],
    {
      ...userSnapshot,
      changed,
    },
  ),
  'user.status_changed': fact('A user may sign in again, or no longer.', ['approval', 'vault'], {
    ...userSnapshot,
    changed,
  }),
  'user.deleted': fact(
    'A user was deleted and their key destroyed: forget what you hold.',
    ['approval', 'authz', 'vault', 'webhooks'],
    {
      ...userId,
      deleted_at,
    },
  ),
  'user.login': fact(
    'A user has signed in (a registration signs in without this event).',
    ['webhooks'],
    {
      ...userSnapshot,
      method,
      amr: texts('How they proved who they are, as in RFC 8176.', 'pwd'),
      session: nullable(loginSession),
    },
  ),
  'user.login_failed': fact('Someone could not sign in.', ['audit'], {
    user_id: nullable(id('The user; null where nobody has that address.')),
    method: text('How they tried to.', 'password'),
    reason: text(
      'Why: `invalid_credentials`, `disabled`, `email_not_verified`, `blocked` or another word.',
      'invalid_credentials',
    ),
    failures: number('Failures in a row.'),
    blocked_until: nullable(
      moment('How long further attempts are refused; null where they are not.'),
    ),
  }),
  'user.unlocked': fact(
    'An administrator let a user try again after failed sign-ins or wrong codes.',
    ['approval'],
    userId,
  ),
  'user.password_changed': fact('The password of a user is another one now.', ['webhooks'], {
    ...userSnapshot,
    by: oneOf(['user', 'reset', 'admin'], 'Who changed it, or that it was reset by mail.'),
    changed_at: moment('When.'),
  }),
  'user.email_verified': fact(
    'A user has shown that the address is theirs.',
    ['approval', 'webhooks'],
    {
      ...userSnapshot,
      verified_at: moment('When.'),
    },
  ),
  'user.email_change': fact(
    'A user asked for another address, proved one side of the change by mail, or it was stopped; `user.updated` tells that it is in force.',
    ['audit'],
    {
      ...userId,
      step: oneOf(['requested', 'proven', 'stopped'], 'What happened to the change.'),
      by: oneOf(
        ['user', 'link', 'admin', 'system'],
        'Who did it: `link` reads the mail of the present address, `system` could not carry it out.',
      ),
    },
  ),
  'user.deletion': fact(
    'A user has their account deleted on a day to come, or no longer.',
    ['audit'],
    {
      ...userId,
      step: oneOf(['scheduled', 'cancelled'], 'What happened to the deletion.'),
      delete_at: nullable(moment('The day; null where it was cancelled.')),
    },
  ),
  'user.self_exported': fact(
    'A user has taken what identity holds about them along.',
    ['audit'],
    userId,
  ),
  'user.factor_changed': fact(
    'A factor was enrolled, shown to work or removed; or a signed-in user showed one once more.',
    ['audit'],
    {
      ...userId,
      factor_id: id('The factor; of a password the user.'),
      type: text(
        'Kind of the factor: `totp`, `passkey`, `recovery` (codes on paper) or `password`.',
        'totp',
      ),
      change: text(
        'What happened to it: `enrolled`, `verified`, `removed` or `stepped` (up).',
        'enrolled',
      ),
    },
  ),
  'user.identity_changed': fact('An account elsewhere was linked or unlinked.', ['audit'], {
    ...userId,
    provider: text('Where that account is.', 'github'),
    change: text('What happened to it: `linked` or `unlinked`.', 'linked'),
  }),
  'user.impersonated': fact('An admin acts as a user.', ['audit'], {
    ...userId,
    admin_id: id('The admin.'),
    reason: freeText(text('Why, in the words of the admin.', 'ticket 4711')),
  }),
  'users.exported': fact('Someone has taken the users of the tenant with them.', ['audit'], {
    rows: number('Users at the start of the export.'),
    included: Type.Optional(
      texts(
        'What each line had beside what lists show: `password_hash`; absent where it was nothing.',
        'password_hash',
      ),
    ),
  }),
  'session.revoked': fact('A session was ended before its time.', ['audit'], {
    id: id('The session.'),
    ...user,
    reason: text(
      'Why: `user`, `reuse` (a refresh token or a code came twice), `oauth_revoke` (by its application), `replaced` (another account signed in in its browser), `browser` (the sign-in that it belongs to has ended), `logout` (its browser signed out), `limit` (the user began more than 1,000) or another word.',
      'user',
    ),
    client_id: Type.Optional(
      nullable(
        id(
          'The application that the session was for, null for others; absent in events of before.',
        ),
      ),
    ),
  }),
  'session.refresh_repeated': fact(
    'The client that had just used a refresh token used it again; told once a minute at most.',
    ['audit'],
    { id: id('The session.'), ...user },
  ),
  'sessions.revoked': fact('All sessions of a user were ended, but the one named.', ['audit'], {
    ...user,
    kept_sid: nullable(id('The session that goes on.')),
    count: number('How many ended.'),
  }),
};

const workspaceEvents = {
  'organization.created': fact('An organization was made.', ['audit'], organization),
  'organization.updated': fact('An organization was changed.', ['audit'], {
    ...organization,
    changed,
  }),
  'tenant.created': fact('A tenant was made.', ['vault', 'approval'], tenant),
  'tenant.updated': fact('A tenant or its settings were changed.', ['vault', 'approval'], {
    ...tenant,
    changed,
  }),
  'tenant.deleted': fact(
    'A tenant was deleted with all that it held.',
    ['approval', 'authz', 'vault', 'webhooks'],
    {
      id: id('The tenant.'),
      deleted_at,
    },
  ),
  'application.created': fact('An application was made.', ['audit'], application),
  'application.updated': fact('An application was changed.', ['audit'], {
    ...application,
    changed,
  }),
  'application.rotated': fact('A key or secret of an application was renewed.', ['audit'], {
    id: id('The application.'),
    what: text('What was renewed: `publishable_key` or `client_secret`.', 'publishable_key'),
  }),
  'application.deleted': fact('An application was deleted.', ['audit'], {
    id: id('The application.'),
    deleted_at,
  }),
  'resource_server.created': fact('A resource server was registered.', ['audit'], resourceServer),
  'resource_server.deleted': fact('A resource server takes no tokens any more.', ['audit'], {
    id: resourceServer.id,
    identifier: resourceServer.identifier,
    deleted_at,
  }),
  'invitation.created': fact('Someone was invited.', ['audit'], invitation),
  'invitation.accepted': fact('An invitation was accepted.', ['audit'], {
    id: id('The invitation.'),
    ...user,
  }),
  'invitation.revoked': fact(
    'An invitation was withdrawn, or replaced by another one.',
    ['audit'],
    {
      id: id('The invitation.'),
    },
  ),
};

const machineEvents = {
  'api_key.created': fact('An API key was made.', ['audit'], apiKey),
  'api_key.rotated': fact('An API key got a new secret.', ['audit'], { ...apiKey, previous_until }),
  'api_key.revoked': fact('An API key was revoked.', ['audit'], { id: id('The key.'), revoked_at }),

  'agent.created': fact('An agent was made.', ['approval', 'vault'], agent),
  'agent.updated': fact('An agent was changed.', ['approval', 'vault'], { ...agent, changed }),
  'agent.suspended': fact(
    'An agent may not act until it is resumed.',
    ['approval', 'vault'],
    agent,
  ),
  'agent.resumed': fact('An agent may act again.', ['approval', 'vault'], agent),
  'agent.deleted': fact('An agent was deleted.', ['approval', 'authz', 'vault'], {
    id: id('The agent.'),
    deleted_at,
  }),
  'agent_key.created': fact('An agent got a key.', ['audit'], agentKey),
  'agent_key.rotated': fact('A key of an agent got a new secret.', ['audit'], {
    ...agentKey,
    previous_until,
  }),
  'agent_key.revoked': fact('A key of an agent was revoked.', ['audit'], {
    id: id('The key.'),
    agent_id: id('The agent.'),
    revoked_at,
  }),
  'delegation.granted': fact('A user lets an agent act for them.', ['audit'], delegation),
  'delegation.withdrawn': fact('A user lets an agent act for them no longer.', ['vault'], {
    id: delegation.id,
    user_id: delegation.user_id,
    agent_id: delegation.agent_id,
    services: delegation.services,
  }),
  'agent_session.started': fact('An agent session began.', ['vault'], {
    ...agentSession,
    purpose: nullable(freeText(text('What for, in the words of the agent.', 'nightly deploy'))),
    started_at: moment('When.'),
  }),
  'agent_session.renewed': fact('An agent session got new tokens.', ['vault'], agentSession),
  'agent_session.ended': fact('An agent session ended.', ['approval', 'vault'], {
    ...agentSession,
    reason: text(
      'Why: `ended`, `expired`, `agent_suspended`, `agent_deleted`, `user_inactive`, `delegation_withdrawn`, `login_ended`, `password_set`, `sessions_revoked` or another word.',
      'ended',
    ),
    ended_at: moment('When.'),
  }),
};

export const identityEvents = integrationEvents('identity', {
  ...accountEvents,
  ...workspaceEvents,
  ...machineEvents,
  ...oauthEvents,
  'mail.requested': fact('Mail was asked for; neither address nor content is told.', ['audit'], {
    purpose: oneOf(MAIL_PURPOSES, 'What for.'),
    user_id: nullable(id('Whom it is for; null where nobody has that address.')),
  }),
  'signing_key.activated': fact('A key signs access tokens from now on.', ['audit'], { kid }),
  'signing_key.retired': fact('A key signs no more; what it signed is still taken.', ['audit'], {
    kid,
  }),
  'signing_key.removed': fact('What a key has signed is taken no longer.', ['audit'], { kid }),
  'action.denied': actionDenied,
});

export type IdentityEventType = (typeof identityEvents)['types'][number];
export type IdentityEventData<Of extends IdentityEventType> = DataOf<typeof identityEvents, Of>;
