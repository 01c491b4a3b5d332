/** Adds a passkey: first the browser gets the options for creating one, then it sends the result. */
import { Time } from '@cardea/contracts';
import { endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { displayName, exists, type UserDirectory } from '../../../accounts/accounts.module.ts';
import { badField, challengeFields, closed, credentialField } from '../../../http/answers.ts';
import { displayNameField, nullable } from '../../../http/input-fields.ts';
import type { TenantFacts, Workspaces } from '../../../workspaces/workspaces.module.ts';
import type { Passkeys } from '../../passkeys.ts';
import { isOff } from '../../self-service.ts';

type Dependencies = Pick<ServiceDependencies, 'command'> & {
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'emailOf'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly passkeys: Pick<Passkeys, 'creation' | 'add'>;
};

const REFUSALS = {
  passkeys_disabled: 403,
  not_found: 404,
} as const;

/** Whether the tenant allows passkeys, either for signing in or as second factors. */
const areAllowed = (tenant: TenantFacts): boolean =>
  !isOff(tenant) || tenant.settings.auth_methods.includes('passkeys');

export const passkeyOptionsRoute = (needs: Dependencies) =>
  endpoint(
    {
      tag: 'Self-service',
      who: ['user'],
      tenant: 'optional',
      name: 'passkey_options',
      access: { class: 'settings', stepUp: 'users' },
      summary: 'What a browser needs to make a passkey',
      description:
        'Answers a challenge for `navigator.credentials.create`, valid for 5 minutes and answered once.',
      method: 'post',
      path: '/api/v1/me/passkeys/options',
      repeat: 'safe',
      ok: closed(challengeFields),
      refusals: REFUSALS,
    },
    async ({ principal }) => {
      const [tenant, user] = await Promise.all([
        needs.workspaces.tenant(principal.tenantId),
        needs.userDirectory.byId(principal.tenantId, principal.id),
      ]);
      if (tenant === undefined || !exists(user)) return { refused: 'not_found' };
      if (!areAllowed(tenant)) return { refused: 'passkeys_disabled' };
      const account = (await needs.userDirectory.emailOf(user)) ?? '';
      const { challengeId, options } = await needs.passkeys.creation({ user, account }, tenant);
      return { ok: { challenge_id: challengeId, options } };
    },
  );

export const addPasskeyRoute = (needs: Dependencies) =>
  endpoint(
    {
      tag: 'Self-service',
      who: ['user'],
      tenant: 'optional',
      name: 'add_passkey',
      access: { class: 'settings', stepUp: 'users' },
      summary: 'Add a passkey that a browser made',
      description:
        'Adds the passkey that a browser has made for a challenge of `POST /api/v1/me/passkeys/options`. A user has at most 10 factors.',
      method: 'post',
      path: '/api/v1/me/passkeys',
      repeat: 'never',
      body: closed({
        challenge_id: Type.String({ maxLength: 128 }),
        response: credentialField,
        name: Type.Optional(displayNameField),
      }),
      ok: closed({
        id: Type.String(),
        name: nullable(Type.String()),
        device_type: Type.String(),
        backed_up: Type.Boolean(),
        created_at: Time,
      }),
      response: { status: 201 },
      refusals: {
        ...REFUSALS,
        invalid_request: 400,
        invalid_passkey: 401,
        too_many_factors: 409,
        challenge_expired: 410,
      },
      consistency: { waitsFor: ['users'] },
    },
    async (request) => {
      const { principal, body } = request;
      const name = displayName(body.name ?? null);
      if (name === undefined) return badField('name');
      const [tenant, user] = await Promise.all([
        needs.workspaces.tenant(principal.tenantId),
        needs.userDirectory.byId(principal.tenantId, principal.id),
      ]);
      if (tenant === undefined || !exists(user)) return { refused: 'not_found' };
      if (!areAllowed(tenant)) return { refused: 'passkeys_disabled' };
      const shown = { user, name, challengeId: body.challenge_id, response: body.response };
      const added = await needs.passkeys.add(shown, tenant, await needs.command(request));
      if ('refused' in added) return added;
      const { id, device_type, backed_up, enrolled_at: created_at } = added.passkey;
      return { ok: { id, name, device_type, backed_up, created_at }, wrote: added.position };
    },
  );
