/** An administrator invites a person to create an account with the roles of the invitation. */

import { type Endpoint, endpoint, type Request } from '@cardea/http';
import { languageOf } from '@cardea/pages';
import { newId, requestHash, reusedKey, type ServiceDependencies } from '@cardea/service';
import Type, { type Static } from 'typebox';
import { closed, tooOften } from '../../../http/answers.ts';
import { emailField } from '../../../http/input-fields.ts';
import { mailLimit } from '../../../mail/mail.module.ts';
import { administratorOf, mayGiveRoles } from '../../../ranks/ranks.ts';
import { TENANT_DEFAULTS, type Workspaces } from '../../../workspaces/workspaces.module.ts';
import { emailAddress, type ToAscii } from '../../email-address.ts';
import type { UserDirectory } from '../../user-directory.ts';
import { unknownRoles } from '../../users/administrator.ts';
import { exists } from '../../users/user.ts';
import { yieldsAddress } from '../../users/yield-address.ts';
import { type Invitation, invitations } from '../invitation.ts';
import { InvitationShape, PATH, shownInvitation } from '../invitation-shape.ts';
import type { InvitedPerson, InvitePerson } from '../inviting.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'clock' | 'command' | 'ids' | 'limits' | 'sealer' | 'streams'
> & {
  readonly userDirectory: Pick<UserDirectory, 'byHash' | 'hashOf'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly invitePerson: InvitePerson;
  readonly toAscii: ToAscii;
};

const Body = closed({
  email: emailField,
  roles: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      minItems: 1,
      maxItems: 50,
      uniqueItems: true,
    }),
  ),
});
type Asked = Request<object, object, Static<typeof Body>>;

export const inviteRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      tag: 'Administration',
      who: ['admin'],
      name: 'create_invitation',
      machine: 'users:write',
      access: { class: 'settings', stepUp: 'users' },
      summary: 'Invite a person',
      description:
        'Invites a person to the tenant by a mailed link that works once, for 7 days. The newest invitation to an address replaces those before it. Nobody gives a role above their own.',
      method: 'post',
      path: PATH,
      body: Body,
      ok: InvitationShape,
      response: { status: 201 },
      refusals: {
        invalid_email: 400,
        unknown_role: 400,
        forbidden: 403,
        registration_closed: 403,
        email_already_exists: 409,
        idempotency_key_reused: 422,
        rate_limited: 429,
      },
      repeat: 'by_key',
      consistency: { waitsFor: ['invitations'] },
    },
    async (request) => {
      const { body, tenantId, principal } = request;
      const email = emailAddress(body.email, needs.toAscii);
      if (email === undefined) return { refused: 'invalid_email' };
      const { settings = TENANT_DEFAULTS } = (await needs.workspaces.tenant(tenantId)) ?? {};
      const roles = body.roles ?? ['member'];
      const unknown = unknownRoles(settings, roles);
      if (unknown !== undefined) return unknown;
      const by = administratorOf(principal);
      if (!mayGiveRoles(by, roles)) return { refused: 'forbidden' };
      if (settings.registration.mode === 'closed') return { refused: 'registration_closed' };

      const id = newId(needs, request, 'invitation');
      const before = (await needs.streams.load(invitations, { tenantId, id })).state;
      if (before.status !== 'none') return await asItStands(needs, request, { before, email });
      const emailHash = await needs.userDirectory.hashOf(tenantId, email);
      const holder = await needs.userDirectory.byHash(tenantId, emailHash);
      if (exists(holder) && !yieldsAddress(holder)) return { refused: 'email_already_exists' };
      const limited = await mailLimit(needs, {
        tenantId,
        emailHash,
        ip: request.ip,
        by: 'administrator',
      });
      if (limited !== undefined) return tooOften(limited);
      return await invited(needs, request, {
        id,
        email,
        emailHash,
        roles,
        by,
        userId: newId(needs, request, 'user'),
        invitedBy: { tenantId, userId: principal.id },
        requestHash: await requestHash(needs, request),
        language: languageOf(request.headers),
      });
    },
  );

async function invited(needs: Dependencies, request: Asked, person: InvitedPerson) {
  const { tenantId } = request;
  const command = await needs.command(request);
  const made = await needs.invitePerson(person, command);
  if ('forbidden' in made) return { refused: 'forbidden' } as const;
  // The key of a person is erased only with that person, and this person's id was generated here.
  if ('erased' in made || made.invitation.status === 'none') throw new Error('nobody was invited');
  const ok = shownInvitation(made.invitation, { email: person.email, tenantId, now: command.now });
  return { ok, wrote: made.position };
}

/** The response contains no secret, so a repeat returns the invitation's current state. */
async function asItStands(
  needs: Pick<Dependencies, 'clock' | 'sealer'>,
  request: Asked,
  of: { readonly before: Exclude<Invitation, { status: 'none' }>; readonly email: string },
) {
  const reused = reusedKey(await requestHash(needs, request), of.before.requestHash);
  if (reused !== undefined) return reused;
  const { tenantId } = request;
  const { before, email } = of;
  return { ok: shownInvitation(before, { email, tenantId, now: needs.clock.now() }) };
}
