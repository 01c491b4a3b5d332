/** Events of identity about applications that act for users. */
import { fact, id, nullable, number, text, texts } from '../fields.ts';

const consent = {
  id: id('The consent.'),
  user_id: id('The user.'),
  client_id: id('The application.'),
};
const scopes = texts('Scopes that it may ask for.', 'openid', 'email');

export const oauthEvents = {
  'consent.granted': fact(
    'A user lets an application act for them; values are all that it may.',
    ['audit'],
    {
      ...consent,
      scopes,
      resources: texts('Resource servers that it may ask tokens for.', 'https://api.example.com'),
    },
  ),
  'consent.revoked': fact('A user lets an application act for them no longer.', ['audit'], consent),
  'oauth.authorized': fact('An application got tokens of a user.', ['audit'], {
    user_id: id('The user.'),
    client_id: consent.client_id,
    session_id: id('The session that its refresh token belongs to.'),
    scopes,
    resource: text('What the tokens are for.', 'https://api.example.com'),
  }),
  'oauth.client_auth_failed': fact(
    'Somebody named an application or an agent as themselves and could not prove it; told 60 times a minute at most.',
    ['audit'],
    {
      client_id: id('The application, or the agent.'),
      reason: text(
        'Why: `wrong_secret`, `wrong_assertion` or `wrong_method` of authentication.',
        'wrong_secret',
      ),
    },
  ),
  'oauth.logout_notice_failed': fact(
    'An application has not taken the notice that a session has ended.',
    ['audit'],
    {
      client_id: consent.client_id,
      user_id: id('The user.'),
      session_id: nullable(id('The session; null: all sessions of the user.')),
      attempts: number('How often it was sent.'),
      cause: text(
        'Why the last attempt failed: `refused` (the answer was 400), `status` (another answer), `expired`, `timeout`, `reset`, `protocol_error`, `blocked_address`, `dns_error`, `connect_error`, `connect_timeout` or `tls_error`.',
        'timeout',
      ),
    },
  ),
};
