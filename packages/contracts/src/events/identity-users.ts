/** The events of identity about users: the account, the login session, and requested mail. */
import Type from 'typebox';
import { derived, erasable, flag, id, moment, nullable, oneOf, text, texts } from '../fields.ts';

export const USER_STATUSES = ['active', 'invited', 'disabled', 'locked'] as const;
export type UserStatus = (typeof USER_STATUSES)[number];

/** The user in every `user.*` event; e-mail and name are null once erased. */
export const userSnapshot = {
  id: id('The user.'),
  email: erasable(text('Their address.', 'ann@example.com')),
  display_name: erasable(text('Their name as shown; null also where they gave none.', 'Ann')),
  email_verified: flag('Whether they have shown that the address is theirs.'),
  roles: texts('Their roles.', 'member'),
  status: oneOf(USER_STATUSES, 'Whether they may sign in: only `active` may.'),
  vouched: Type.Optional(
    flag(
      'Whether an administrator vouches for them, as approvals of the tenant ask for; absent in events of before.',
    ),
  ),
  locale: Type.Optional(
    erasable(
      text(
        'BCP 47 tag of their language; null also where they chose none, absent in events of before.',
        'de-CH',
      ),
    ),
  ),
  created_at: moment('When the account was made.'),
};

const place = Type.Object(
  {
    city: Type.Optional(text('City.', 'Bern')),
    region: Type.Optional(text('Region.', 'Bern')),
    country: Type.Optional(text('ISO 3166 code of the country.', 'CH')),
  },
  {
    additionalProperties: false,
    description: 'Where the address is; absent without geographic data.',
  },
);

/** `docs/contract.md` 2.3 without `current`. Addresses are null once erased. `location` is missing without geo data. */
export const loginSession = Type.Object(
  {
    id: id('The session.'),
    family_id: id('The session that all of its refresh tokens belong to.'),
    ip_address: erasable(text('Address that the user signed in from.', '192.0.2.7')),
    user_agent: erasable(text('What the user signed in with.', 'Mozilla/5.0')),
    browser: derived(text('Browser; empty where unknown or erased.', 'Firefox')),
    browser_version: derived(text('Its version; empty where unknown or erased.', '131.0')),
    os: derived(text('Operating system; empty where unknown or erased.', 'Linux')),
    os_version: derived(text('Its version; empty where unknown or erased.', '')),
    device_type: nullable(
      derived(text('`desktop`, `mobile`, `tablet` or `bot`; null where unknown.', 'desktop')),
    ),
    location: Type.Optional(derived(place)),
    started_at: moment('When the session began.'),
    last_active_at: moment('When it was last used.'),
    expires_at: moment('When it ends, unless it is used before.'),
  },
  { additionalProperties: false, description: 'The session that began.' },
);

export const USER_CREATED_VIA = [
  'register',
  'signup',
  'admin',
  'import',
  'bootstrap',
  'social',
  'invitation',
] as const;
export type UserCreatedVia = (typeof USER_CREATED_VIA)[number];

/**
 * Why a mail was requested. `notice`: a change to an address, for its holder. `new_device`: a sign-in.
 * `sign_in_blocked`: failures that blocked the account. `security_notice`: a change to how the account is signed in to.
 * `email_change`: a change of address to confirm. `email_change_stop`: a change of address that can be cancelled.
 */
export const MAIL_PURPOSES = [
  'verify',
  'reset',
  'magic_link',
  'otp',
  'invitation',
  'notice',
  'new_device',
  'sign_in_blocked',
  'security_notice',
  'email_change',
  'email_change_stop',
] as const;
export type MailPurpose = (typeof MAIL_PURPOSES)[number];
