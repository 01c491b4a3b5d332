/** Owners read the tenants of their organization and change them. */
import { neverErased } from '@cardea/crypto';
import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { badField } from '../../../http/answers.ts';
import { filledNameField } from '../../../http/input-fields.ts';
import { tenantField } from '../../../streams/encrypted-fields.ts';
import { companyName, type Workspaces } from '../../workspaces.ts';
import { SettingsChange } from '../settings-shape.ts';
import { readSocial } from '../social-settings.ts';
import { tenants } from '../tenant.ts';
import {
  EnvironmentField,
  ownTenant,
  shownTenant,
  TENANTS,
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
      ...TENANTS,
      applicationScope: 'roles',
      name: 'get_tenant',
      summary: 'One tenant of the organization',
      method: 'get',
      path: PATH,
      params: TenantId,
      ok: TenantShape,
      refusals: { not_found: 404 },
    },
    async ({ tenantId, params }) => {
      const tenant = await ownTenant(needs, tenantId, params.id);
      return tenant === undefined ? { refused: 'not_found' } : { ok: shownTenant(tenant) };
    },
  );

export const updateTenantRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...TENANTS,
      applicationScope: 'roles',
      name: 'update_tenant',
      retry: 'safe',
      summary: 'Change a tenant of the organization',
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
      refusals: { invalid_request: 400, not_found: 404 },
      waitsFor: ['workspaces'],
    },
    async (request) => {
      const { tenantId, params, body } = request;
      const tenant = await ownTenant(needs, tenantId, params.id);
      if (tenant === undefined) return { refused: 'not_found' };
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

async function sealedSecrets(
  { sealer }: Pick<Dependencies, 'sealer'>,
  tenantId: string,
  secrets: { readonly [name: string]: string },
) {
  const sealed = Object.entries(secrets).map(async ([name, secret]) => {
    // Of a tenant that is in use.
    const value = neverErased(await sealer.seal(tenantId, tenantField(tenantId, name), secret));
    return [name, value] as const;
  });
  return Object.fromEntries(await Promise.all(sealed));
}
