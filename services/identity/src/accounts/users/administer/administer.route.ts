/** An administrator changes or deletes an account. */

import { WriteContention } from '@cardea/event-store';
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type, { type Static } from 'typebox';
import { badField, closed, metadataField } from '../../../http/answers.ts';
import { emailField, nullable } from '../../../http/input-fields.ts';
import { type Profile, profileInputFields, readProfile } from '../../../http/profile-fields.ts';
import { administratorOf } from '../../../ranks/ranks.ts';
import { TENANT_DEFAULTS, type Workspaces } from '../../../workspaces/workspaces.module.ts';
import type { Accounts } from '../../accounts.ts';
import type { Administrators } from '../../administrators/administrators.ts';
import type { UserDirectory } from '../../user-directory.ts';
import { unknownRoles } from '../administrator.ts';
import { type MetadataPatches, sealMetadata } from '../seal-metadata.ts';
import { exists } from '../user.ts';
import { AdminUserInFull, Id, Roles, Status, shownInFull, WRITES } from './admin-answers.ts';
import { findUser } from './admin-users.ts';
import { administer, deleteUser } from './administer.ts';
import { decideOnUser } from './decide-on-user.ts';
import { type ReserveDependencies, reserveEmail } from './reserve-email.ts';

type Dependencies = ReserveDependencies &
  Pick<ServiceDependencies, 'clock' | 'command' | 'database'> & {
    readonly userDirectory: Pick<UserDirectory, 'byId' | 'metadataOf' | 'open' | 'sealProfile'>;
    readonly accounts: Pick<Accounts, 'releaseAddress'>;
    readonly administrators: Pick<Administrators, 'leave' | 'settle'>;
    readonly workspaces: Pick<Workspaces, 'tenant'>;
  };

const Body = Type.Object(
  {
    ...profileInputFields,
    public_metadata: Type.Optional(nullable(metadataField)),
    private_metadata: Type.Optional(nullable(metadataField)),
    email: Type.Optional(emailField),
    /** Belongs to `email`: whether the administrator states that the address is the user's. */
    email_verified: Type.Optional(Type.Boolean()),
    roles: Type.Optional(Roles),
    status: Type.Optional(Status),
    vouched: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false, minProperties: 1 },
);
type Asked = Request<Static<typeof Id>, object, Static<typeof Body>>;

export const updateUserRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      tag: 'Administration',
      name: 'update_user',
      machine: 'users:write',
      access: { class: 'settings', stepUp: 'users' },
      repeat: 'safe',
      summary: 'Change a user',
      description:
        'Changes a user in one step; what the body does not name stays. Taking a role ends the tokens that show it. Disabling a user ends their sessions and the agent sessions for them. Another `email` is in force at once, ends their sessions and what was mailed before, and both addresses are told; without `email_verified` it has to be confirmed. The address of before stays reserved for the account for 7 days. The address that they have stops a change that they have asked for. Nobody changes a user of a higher role or gives a role above their own, and no key changes an address.',
      method: 'patch',
      path: '/api/v1/admin/users/{id}',
      who: WRITES,
      params: Id,
      body: Body,
      ok: AdminUserInFull,
      refusals: {
        invalid_email: 400,
        invalid_request: 400,
        unknown_role: 400,
        forbidden: 403,
        not_found: 404,
        email_already_exists: 409,
        email_not_verified: 409,
        last_admin: 409,
        rate_limited: 429,
      },
      consistency: { waitsFor: ['users', 'sessions', 'revocations'] },
    },
    async (request) => {
      const { body, tenantId } = request;
      const values = readProfile(body);
      if (typeof values === 'string') return badField(values);
      const { settings = TENANT_DEFAULTS } = (await needs.workspaces.tenant(tenantId)) ?? {};
      const unknown = unknownRoles(settings, body.roles ?? []);
      if (unknown !== undefined) return unknown;
      return updated(needs, request, values);
    },
  );

async function updated(needs: Dependencies, request: Asked, values: Profile<string>) {
  const { body, params, tenantId } = request;
  const of = { tenantId, userId: params.id };
  const patches = body as MetadataPatches;
  const command = await needs.command(request);
  const change = {
    by: administratorOf(request.principal),
    now: command.now,
    ...(body.roles === undefined ? {} : { roles: body.roles }),
    ...(body.status === undefined ? {} : { status: body.status }),
    ...(body.vouched === undefined ? {} : { vouched: body.vouched }),
  };
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    // The user is looked up before anything is encrypted, since a user who does not exist has no key.
    const user = await needs.userDirectory.byId(tenantId, params.id);
    if (!exists(user)) return { refused: 'not_found' } as const;
    const profile = await needs.userDirectory.sealProfile(of, values);
    const metadata = await sealMetadata(needs.userDirectory, { tenantId, user }, patches);
    if (profile === 'erased' || metadata === 'erased') return { refused: 'not_found' } as const;
    if ('rule' in metadata) return badField(metadata.field, metadata.rule);
    const reserved = await reserveEmail(needs, request, { user, change, command });
    if (reserved.refused !== undefined) return reserved;
    const { email } = reserved;
    const at = { ...of, holding: email?.hash === user.emailHash ? undefined : email?.hash };
    const wanted = { ...change, profile, metadata, ...(email === undefined ? {} : { email }) };
    const decided = await decideOnUser(needs, at, command, (on, account) =>
      administer({ ...wanted, ...on }, account),
    );
    if (!decided.done) {
      const { reason } = decided;
      if (reason === 'metadata_changed' || reason === 'address_lost') continue;
      if (email !== undefined) {
        await needs.accounts.emails.release({ ...of, emailHash: email.hash }, command);
      }
      return { refused: reason };
    }
    if (!exists(decided.state)) return { refused: 'not_found' } as const;
    const row = await findUser(needs.database, { tenantId, id: params.id, now: command.now });
    return { ok: await shownInFull(needs, decided.state, row), wrote: decided.position };
  }
  throw new WriteContention('others change the metadata of the user, or take the address');
}

/** How often a change of metadata is applied again to a newer state. */
const ATTEMPTS_MAX = 10;

export const deleteUserRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      tag: 'Administration',
      name: 'delete_user',
      machine: 'users:write',
      access: { class: 'settings', stepUp: 'users' },
      repeat: 'safe',
      summary: 'Delete a user',
      description:
        'Deletes a user. The key of their personal data is erased, so that no copy of the log shows them any more, and the address is free. This cannot be undone.',
      method: 'delete',
      path: '/api/v1/admin/users/{id}',
      who: WRITES,
      params: Id,
      ok: closed({ status: Type.Literal('user deleted') }),
      refusals: { forbidden: 403, not_found: 404, last_admin: 409 },
      consistency: { waitsFor: ['users', 'sessions', 'revocations'] },
    },
    async (request) => {
      const { tenantId, params } = request;
      const of = { tenantId, userId: params.id };
      const command = await needs.command(request);
      const by = administratorOf(request.principal);
      const decided = await decideOnUser(needs, of, command, ({ mayLeave }, user) =>
        deleteUser({ by, mayLeave, now: command.now }, user),
      );
      if (!decided.done) return { refused: decided.reason };
      const emailHash = decided.state.status === 'deleted' ? decided.state.emailHash : '';
      // A policy repeats the release after a crash. Here the address is released before the response.
      await needs.accounts.releaseAddress({ ...of, emailHash }, command);
      return { ok: { status: 'user deleted' as const }, wrote: decided.position };
    },
  );
