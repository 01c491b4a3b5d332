/** An owner creates another tenant of the organization, and may invite its first administrator. */
import { documented } from '@cardea/contracts';
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import { newId, requestHash, reusedKey, type ServiceDependencies } from '@cardea/service';
import Type, { type Static } from 'typebox';
import { closed } from '../../../http/answers.ts';
import { emailField, filledNameField } from '../../../http/input-fields.ts';
import type { Workspaces } from '../../workspaces.ts';
import { type TenantFacts, tenants } from '../tenant.ts';
import { EnvironmentField, shownTenant, TenantShape } from '../tenant-shape.ts';
import { newTenant } from './create.ts';

/** Invites the first administrator; the address is checked before anything is created. */
export type InviteAdministrator = {
  /** Returns undefined if the text is no address. */
  readonly addressOf: (email: string) => string | undefined;
  readonly invite: (
    request: Request<unknown, unknown, unknown>,
    of: {
      readonly tenantId: string;
      readonly email: string;
      readonly by: { readonly tenantId: string; readonly userId: string };
    },
  ) => Promise<void>;
};

type Dependencies = Pick<ServiceDependencies, 'command' | 'ids' | 'sealer' | 'settings'> & {
  readonly workspaces: Pick<Workspaces, 'createApplication' | 'createTenant' | 'tenant'>;
  readonly streams: Pick<ServiceDependencies['streams'], 'load'>;
  readonly inviteAdministrator: InviteAdministrator;
};

const Body = closed({
  name: filledNameField,
  slug: Type.Optional(
    documented(Type.String({ minLength: 1, maxLength: 48 }), {
      pattern: '^[a-z0-9]+(-[a-z0-9]+)*$',
      examples: ['acme'],
    }),
  ),
  display_name: Type.Optional(filledNameField),
  environment: Type.Optional(EnvironmentField),
  admin_email: Type.Optional(emailField),
});

export const createTenantRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      tag: 'Administration',
      who: ['owner'],
      name: 'create_tenant',
      machine: 'never',
      access: { class: 'settings', stepUp: 'users' },
      summary: 'Create a tenant of the organization',
      description:
        "Creates a tenant of the caller's organization. `admin_email` invites its first administrator. The slug of a closed tenant stays taken until that tenant is deleted.",
      method: 'post',
      path: '/api/v1/admin/tenants',
      body: Body,
      ok: TenantShape,
      response: { status: 201 },
      refusals: {
        invalid_email: 400,
        invalid_request: 400,
        not_found: 404,
        slug_taken: 409,
        idempotency_key_reused: 422,
      },
      repeat: 'by_key',
      consistency: { waitsFor: ['workspaces'] },
    },
    async (request) => {
      const { body, principal } = request;
      const read = newTenant(body);
      if ('refused' in read) return read;
      const { admin_email } = body;
      const email =
        admin_email === undefined ? null : needs.inviteAdministrator.addressOf(admin_email);
      if (email === undefined) return { refused: 'invalid_email' };
      const own = await needs.workspaces.tenant(request.tenantId);
      if (own === undefined) return { refused: 'not_found' };
      const id = newId(needs, request, 'tenant');
      const { state: before } = await needs.streams.load(tenants, { tenantId: id, id });
      const ownHash = await requestHash(needs, request);
      if (before.status !== 'none') {
        return reusedKey(ownHash, before.requestHash) ?? { ok: shownTenant(before) };
      }
      const made = await created(needs, request, { own, id, ...read.tenant });
      if ('refused' in made) return made;
      const by = { tenantId: own.id, userId: principal.id };
      if (email !== null) {
        await needs.inviteAdministrator.invite(request, { tenantId: id, email, by });
      }
      return made;
    },
  );

async function created(
  needs: Dependencies,
  request: Request<object, object, Static<typeof Body>>,
  of: {
    readonly own: TenantFacts;
    readonly id: string;
    readonly name: string;
    readonly displayName: string;
    readonly slug: string;
    readonly isChosen: boolean;
  },
) {
  const { own, id, name, displayName, slug, isChosen } = of;
  const command = await needs.command(request, { tenantId: id });
  const workspace = {
    organizationId: own.organizationId,
    homeTenantId: own.homeTenantId,
    tenantId: id,
    applicationId: newId(needs, request, 'application'),
    tenantName: name,
    displayName,
    slug,
    isChosen,
    environment: request.body.environment ?? needs.settings.ENV,
    requestHash: await requestHash(needs, request),
  };
  const tenant = await needs.workspaces.createTenant(workspace, command);
  if ('refused' in tenant) return tenant;
  const wrote = await needs.workspaces.createApplication(workspace, command);
  return { ok: shownTenant(tenant), wrote };
}
