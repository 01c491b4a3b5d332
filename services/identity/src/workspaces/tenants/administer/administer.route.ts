/** Owners read the tenants of their organization and change them. */
import type { Principal } from '@cardea/auth';
import { BOOTSTRAP_TENANT_ID } from '@cardea/contracts';
import { neverErased } from '@cardea/crypto';
import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { badField } from '../../../http/answers.ts';
import { filledNameField } from '../../../http/input-fields.ts';
import { administratorOf, isHighestIn } from '../../../ranks/ranks.ts';
import { tenantField } from '../../../streams/encrypted-fields.ts';
import { companyName, type Workspaces } from '../../workspaces.ts';
import { SettingsChange } from '../settings-shape.ts';
import { readSocial } from '../social-settings.ts';
import { tenants } from '../tenant.ts';
import {
  EnvironmentField,
  ownTenant,
  shownTenant,
  TenantId,
  TenantShape,
} from '../tenant-shape.ts';
import { changeTenant } from './change-tenant.ts';
import { readSettings } from './read-settings.ts';

type Dependencies = Pick<ServiceDependencies, 'command' | 'sealer' | 'settings' | 'streams'> & {
  readonly workspaces: Pick<Workspaces, 'tenant'>;
};

const PATH = '/api/v1/admin/tenants/{id}';

export const getTenantRoute = (needs: Pick<Dependencies, 'workspaces'>): Endpoint =>
  endpoint(
    {
      tag: 'Administration',
      who: ['owner'],
      name: 'get_tenant',
      machine: 'settings:read',
      access: { class: 'things', applicationScope: 'roles' },
      summary: 'One tenant of the organization',
      description: "Shows a tenant of the caller's organization with its settings.",
      method: 'get',
      path: PATH,
      params: TenantId,
      ok: TenantShape,
      refusals: { forbidden: 403, not_found: 404 },
    },
    async ({ tenantId, params, principal }) => {
      const refused = refusedMachine(principal, params.id);
      if (refused !== undefined) return { refused };
      const tenant = await ownTenant(needs, tenantId, params.id);
      return tenant === undefined ? { refused: 'not_found' } : { ok: shownTenant(tenant) };
    },
  );

export const updateTenantRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      tag: 'Administration',
      who: ['owner'],
      name: 'update_tenant',
      machine: 'settings:write',
      access: { class: 'settings', stepUp: 'users' },
      repeat: 'safe',
      summary: 'Change a tenant of the organization',
      description:
        'Changes a tenant and its settings. What is not named stays, inside of a setting with several fields, too.',
      method: 'patch',
      path: PATH,
      params: TenantId,
      body: Type.Object(
        {
          name: Type.Optional(filledNameField),
          display_name: Type.Optional(filledNameField),
          environment: Type.Optional(EnvironmentField),
          settings: Type.Optional(SettingsChange),
        },
        { additionalProperties: false, minProperties: 1 },
      ),
      ok: TenantShape,
      refusals: { invalid_request: 400, forbidden: 403, not_found: 404 },
      consistency: { waitsFor: ['workspaces'] },
    },
    async (request) => {
      const { tenantId, params, body, principal } = request;
      const refused = refusedMachine(principal, params.id);
      if (refused !== undefined) return { refused };
      const tenant = await ownTenant(needs, tenantId, params.id);
      if (tenant === undefined) return { refused: 'not_found' };
      // These settings decide how everybody in the tenant signs in, including users with a higher rank than an owner.
      if (!isHighestIn(tenant.id, administratorOf(principal))) return { refused: 'forbidden' };
      const name = body.name === undefined ? undefined : companyName(body.name);
      const shownAs = body.display_name === undefined ? undefined : companyName(body.display_name);
      if (body.name !== undefined && name === undefined) return badField('name');
      if (body.display_name !== undefined && shownAs === undefined) return badField('display_name');
      const { social: written = {}, ...given } = body.settings ?? {};
      const read = readSettings(given, needs.settings.ENV);
      if ('refused' in read) return read;
      const social = readSocial(written, needs.settings.ENV);
      if (social === undefined) return badField('settings.social');
      const command = await needs.command(request, { tenantId: tenant.id });
      const change = {
        settings:
          body.settings?.social === undefined
            ? read.settings
            : { ...read.settings, social: social.social },
        secrets: await sealedSecrets(needs, tenant.id, social.secrets),
        ...(name === undefined ? {} : { name }),
        ...(shownAs === undefined ? {} : { display_name: shownAs }),
        ...(body.environment === undefined ? {} : { environment: body.environment }),
      };
      const decided = await needs.streams.decideOn(tenants, tenant.id, command, (state) =>
        changeTenant(change, state),
      );
      if (!decided.accepted || decided.state.status !== 'active') return { refused: 'not_found' };
      return { ok: shownTenant(decided.state), wrote: decided.position };
    },
  );

/** A machine reads and changes only its own tenant, and nothing in the deployment's own tenant. */
function refusedMachine(
  principal: Principal | undefined,
  id: string,
): 'forbidden' | 'not_found' | undefined {
  if (principal?.kind !== 'client') return undefined;
  if (principal.tenantId === BOOTSTRAP_TENANT_ID) return 'forbidden';
  return principal.tenantId === id ? undefined : 'not_found';
}

async function sealedSecrets(
  { sealer }: Pick<Dependencies, 'sealer'>,
  tenantId: string,
  secrets: { readonly [name: string]: string },
) {
  const sealed = Object.entries(secrets).map(async ([name, secret]) => {
    // The tenant is in use, so its key is not erased at this time.
    const value = neverErased(await sealer.seal(tenantId, tenantField(tenantId, name), secret));
    return [name, value] as const;
  });
  return Object.fromEntries(await Promise.all(sealed));
}
