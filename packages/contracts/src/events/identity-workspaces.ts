/** The events of identity about organizations, tenants, applications and invitations. */
import Type from 'typebox';
import { freeText, id, moment, nullable, number, text, texts } from '../fields.ts';

export const organization = {
  id: id('The organization.'),
  name: freeText(text('Its name.', 'Example Ltd')),
  audit_retention_days: number('How long its audit log is kept, in days.'),
  created_at: moment('When it was made.'),
};

export const tenant = {
  id: id('The tenant.'),
  organization_id: id('The organization that it belongs to.'),
  name: freeText(text('Its name.', 'Example')),
  slug: text('Its name in addresses.', 'example'),
  display_name: freeText(text('Its name as shown to users.', 'Example')),
  environment: text('What it is for.', 'production'),
  approval_channels: texts('How users are told of requests for approval.', 'email', 'webhook'),
  language: Type.Optional(
    text('The language of its mails, as BCP 47 writes it; absent in events of before.', 'de'),
  ),
  brand_color: Type.Optional(
    nullable(text('The colour of its pages and mails, where it chose one.', '#1a6b52')),
  ),
  agent_access: Type.Optional(
    nullable(
      Type.Object(
        {
          approver: text('The set of which an administrator decides.', 'role:admin'),
          max_seconds: number('For how many seconds an agent gets it at most.', 1),
        },
        {
          additionalProperties: false,
          description:
            'Whom agents may ask for access that they lack; null: nobody; absent in events of before.',
        },
      ),
    ),
  ),
  created_at: moment('When it was made.'),
};

export const application = {
  id: id('The application.'),
  name: freeText(text('Its name.', 'web shop')),
  environment: text('What it is for.', 'production'),
  type: text('Kind of the application.', 'spa'),
  publishable_key: text('Its public key: no secret, it names the application.', 'pk_live_2b7e1516'),
  created_at: moment('When it was made.'),
};

export const resourceServer = {
  id: id('The resource server.'),
  identifier: text('The URL that becomes the audience of its tokens.', 'https://api.example.com'),
  name: freeText(text('Its name.', 'orders')),
  scopes: texts('Names of its scopes.', 'orders:read'),
  created_at: moment('When it was registered.'),
};

export const invitation = {
  id: id('The invitation.'),
  roles: texts('Roles that the invited will have.', 'member'),
  created_at: moment('When it was made.'),
  expires_at: moment('When it lapses.'),
};
