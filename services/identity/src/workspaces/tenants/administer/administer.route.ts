/** Owners read the tenants of their organization and change their settings. */
import { named, Time } from '@cardea/contracts';
import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { closed } from '../../../http/answers.ts';
import type { Workspaces } from '../../workspaces.ts';
import { REGISTRATION_MODES, type TenantFacts, tenants } from '../tenant.ts';
import { changeTenant } from './change-tenant.ts';

type Dependencies = Pick<ServiceDependencies, 'command' | 'streams'> & {
  readonly workspaces: Pick<Workspaces, 'tenant'>;
};

const COMMON = {
  tag: 'Administration',
  path: '/api/v1/admin/tenants/{id}',
  who: ['owner'],
  tenant: 'required',
  area: 'admin',
  params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) }),
} as const;

/** The smallest minimum length of a password that a policy may require, in characters. */
const LEAST_LENGTH_MIN = 8;
const LEAST_LENGTH_MAX = 64;
const passwordPolicy = {
  min: Type.Integer({ minimum: LEAST_LENGTH_MIN, maximum: LEAST_LENGTH_MAX }),
  common: named('CommonPasswords', Type.Enum(['allow', 'refuse'])),
};
const registration = {
  mode: named('RegistrationMode', Type.Enum([...REGISTRATION_MODES])),
  /** Null: uniform exactly if verification is required. */
  uniform_response: Type.Union([Type.Boolean(), Type.Null()]),
};
const TenantShape = named(
  'Tenant',
  closed({
    id: Type.String(),
    organization_id: Type.String(),
    name: Type.String(),
    slug: Type.String(),
    display_name: Type.String(),
    environment: Type.String(),
    settings: named(
      'TenantSettings',
      closed({
        password_policy: named('PasswordPolicy', closed(passwordPolicy)),
        registration: named('RegistrationSettings', closed(registration)),
      }),
    ),
    created_at: Time,
  }),
);
/** Settings that are not named stay as they are. */
const SettingsChange = named(
  'TenantSettingsChange',
  Type.Object(
    {
      password_policy: Type.Optional(
        named('PasswordPolicyChange', Type.Partial(closed(passwordPolicy))),
      ),
      registration: Type.Optional(
        named('RegistrationSettingsChange', Type.Partial(closed(registration))),
      ),
    },
    { additionalProperties: false, minProperties: 1 },
  ),
);

export const getTenantRoute = (needs: Pick<Dependencies, 'workspaces'>): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'get_tenant',
      summary: 'One tenant of the organization',
      method: 'get',
      ok: TenantShape,
      refusals: { not_found: 404 },
    },
    async ({ tenantId, params }) => {
      const tenant = await ownTenant(needs, tenantId, params.id);
      return tenant === undefined ? { refused: 'not_found' } : { ok: shown(tenant) };
    },
  );

export const updateTenantRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'update_tenant',
      retry: 'safe',
      summary: 'Change a tenant of the organization',
      method: 'patch',
      body: closed({ settings: SettingsChange }),
      ok: TenantShape,
      refusals: { not_found: 404 },
      waitsFor: ['workspaces'],
    },
    async (request) => {
      const { tenantId, params, body } = request;
      const tenant = await ownTenant(needs, tenantId, params.id);
      if (tenant === undefined) return { refused: 'not_found' };
      const command = await needs.command(request, { tenantId: tenant.id });
      const decided = await needs.streams.decideOn(tenants, tenant.id, command, (state) =>
        changeTenant(body.settings, state),
      );
      if (!decided.accepted || decided.state.status !== 'active') return { refused: 'not_found' };
      return { ok: shown(decided.state), wrote: decided.position };
    },
  );

/** A tenant of another organization counts as unknown. */
async function ownTenant(
  { workspaces }: Pick<Dependencies, 'workspaces'>,
  callersTenantId: string,
  id: string,
): Promise<TenantFacts | undefined> {
  const [own, asked] = await Promise.all([
    workspaces.tenant(callersTenantId),
    workspaces.tenant(id),
  ]);
  return own !== undefined && own.organizationId === asked?.organizationId ? asked : undefined;
}

const shown = ({ settings, ...tenant }: TenantFacts) => ({
  id: tenant.id,
  organization_id: tenant.organizationId,
  name: tenant.name,
  slug: tenant.slug,
  display_name: tenant.displayName,
  environment: tenant.environment,
  settings: {
    password_policy: { ...settings.password_policy },
    registration: { ...settings.registration },
  },
  created_at: tenant.createdAt,
});
