/** Administrators register, change and delete the applications of their tenant. */
import { type IssuedKey, issueClientSecret, issuePublishableKey } from '@cardea/crypto';
import { type Endpoint, endpoint } from '@cardea/http';
import {
  alreadyCreated,
  newId,
  requestHash,
  reusedKey,
  type ServiceDependencies,
} from '@cardea/service';
import Type, { type Static } from 'typebox';
import { closed } from '../../../http/answers.ts';
import type { SnapshotCache } from '../../../streams/snapshot-cache.ts';
import type { Workspaces } from '../../workspaces.ts';
import { type ApplicationFacts, applications, DEFAULT_SCOPES } from '../application.ts';
import {
  ApplicationChange,
  ApplicationShape,
  CreatedApplication,
  NewApplication,
  shownApplication,
} from '../application-shape.ts';
import {
  applicationFault,
  changeApplication,
  createApplication,
  defaultGrantTypes,
  deleteApplication,
  isConfidential,
  isThere,
} from './administer.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'command' | 'ids' | 'random' | 'sealer' | 'settings' | 'streams'
> & {
  readonly snapshots: Pick<SnapshotCache, 'load'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
};

export const APPLICATIONS = {
  tag: 'Applications',
  who: ['admin'],
  applicationScope: 'account',
  tenant: 'required',
  area: 'admin',
} as const;
export const APPLICATIONS_PATH = '/api/v1/admin/applications';
export const ApplicationId = Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) });

export const createApplicationRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...APPLICATIONS,
      name: 'create_application',
      summary: 'Register an application',
      method: 'post',
      path: APPLICATIONS_PATH,
      body: NewApplication,
      ok: CreatedApplication,
      status: 201,
      showsSecret: true,
      refusals: {
        invalid_request: 400,
        invalid_redirect_uri: 400,
        invalid_scope: 400,
        not_found: 404,
        already_created: 409,
        idempotency_key_reused: 422,
      },
      idempotent: true,
      waitsFor: ['workspaces'],
    },
    async (request) => {
      const { body, tenantId } = request;
      const tenant = await needs.workspaces.tenant(tenantId);
      if (tenant === undefined) return { refused: 'not_found' };
      const command = await needs.command(request);
      const id = newId(needs, request, 'application');
      const created_at = command.now.toISOString();
      const facts = newFacts(needs, { id, created_at, body, environment: tenant.environment });
      const isDevelopment = needs.settings.ENV === 'development';
      const fault = applicationFault(facts.type, facts, isDevelopment);
      if (fault !== undefined) return { refused: fault };
      const secret = newSecret(needs, facts);
      const ownHash = await requestHash(needs, request);
      const create = {
        ...facts,
        secret_hash: secret?.secretHash ?? null,
        request_hash: ownHash,
      };
      const decided = await needs.streams.decideOn(applications, id, command, (application) =>
        createApplication(create, application),
      );
      const { state } = decided;
      if (!isThere(state)) return { refused: 'not_found' };
      if (!decided.accepted || decided.repeated) {
        const reused = reusedKey(ownHash, state.requestHash);
        if (reused !== undefined) return reused;
        // Its secret was shown once, and cannot be shown again.
        return state.secret === null
          ? { ok: shownApplication(tenantId, state) }
          : alreadyCreated(id);
      }
      const shown = shownApplication(tenantId, state);
      const ok = secret === undefined ? shown : { ...shown, client_secret: secret.text };
      return { ok, wrote: decided.position };
    },
  );

export const getApplicationRoute = ({ snapshots }: Pick<Dependencies, 'snapshots'>): Endpoint =>
  endpoint(
    {
      ...APPLICATIONS,
      name: 'get_application',
      summary: 'An application',
      method: 'get',
      path: `${APPLICATIONS_PATH}/{id}`,
      params: ApplicationId,
      ok: ApplicationShape,
      refusals: { not_found: 404 },
    },
    async ({ params: { id }, tenantId }) => {
      const application = await snapshots.load(applications, { tenantId, id });
      if (!isThere(application)) return { refused: 'not_found' };
      return { ok: shownApplication(tenantId, application) };
    },
  );

export const updateApplicationRoute = (
  needs: Pick<Dependencies, 'command' | 'settings' | 'streams'>,
): Endpoint =>
  endpoint(
    {
      ...APPLICATIONS,
      name: 'update_application',
      retry: 'safe',
      summary: 'Change an application',
      method: 'patch',
      path: `${APPLICATIONS_PATH}/{id}`,
      params: ApplicationId,
      body: ApplicationChange,
      ok: ApplicationShape,
      refusals: {
        invalid_request: 400,
        invalid_redirect_uri: 400,
        invalid_scope: 400,
        not_found: 404,
      },
      waitsFor: ['workspaces'],
    },
    async (request) => {
      const { params, body, tenantId } = request;
      const command = await needs.command(request);
      const fields = { ...body, ...(body.name === undefined ? {} : { name: body.name.trim() }) };
      const change = { fields, isDevelopment: needs.settings.ENV === 'development' };
      const decided = await needs.streams.decideOn(applications, params.id, command, (before) =>
        changeApplication(change, before),
      );
      if (!decided.accepted) return { refused: decided.reason };
      if (!isThere(decided.state)) return { refused: 'not_found' };
      return { ok: shownApplication(tenantId, decided.state), wrote: decided.position };
    },
  );

export const deleteApplicationRoute = (
  needs: Pick<Dependencies, 'command' | 'streams'>,
): Endpoint =>
  endpoint(
    {
      ...APPLICATIONS,
      name: 'delete_application',
      retry: 'safe',
      summary: 'Delete an application',
      method: 'delete',
      path: `${APPLICATIONS_PATH}/{id}`,
      params: ApplicationId,
      ok: closed({ status: Type.Literal('application deleted') }),
      refusals: { not_found: 404 },
      waitsFor: ['workspaces', 'revocations'],
    },
    async (request) => {
      const command = await needs.command(request);
      const { id } = request.params;
      const decided = await needs.streams.decideOn(applications, id, command, (application) =>
        deleteApplication(command.now, application),
      );
      if (!decided.accepted) return { refused: decided.reason };
      return { ok: { status: 'application deleted' as const }, wrote: decided.position };
    },
  );

function newFacts(
  { random }: Pick<Dependencies, 'random'>,
  of: {
    readonly id: string;
    readonly created_at: string;
    readonly body: Static<typeof NewApplication>;
    readonly environment: string;
  },
): ApplicationFacts {
  const { body, id, created_at } = of;
  const environment = body.environment ?? of.environment;
  return {
    id,
    name: body.name.trim(),
    environment,
    type: body.type,
    publishable_key: publishableKeyFor(environment, random),
    created_at,
    redirect_uris: body.redirect_uris ?? [],
    allowed_origins: body.allowed_origins ?? [],
    grant_types: body.grant_types ?? defaultGrantTypes(body.type),
    scopes: body.scopes ?? (body.type === 'm2m' ? [] : DEFAULT_SCOPES),
    first_party: body.first_party ?? false,
    require_par: body.require_par ?? false,
    branding: body.branding ?? {},
    jwks: body.jwks ?? [],
  };
}

export const publishableKeyFor = (
  environment: string,
  random: ServiceDependencies['random'],
): string => issuePublishableKey(environment === 'production' ? 'live' : 'test', random);

/** A client that authenticates by a key of its own can still be given a secret when it has none left. */
const newSecret = (
  { random }: Pick<Dependencies, 'random'>,
  { type }: Pick<ApplicationFacts, 'type'>,
): Omit<IssuedKey, 'id'> | undefined =>
  isConfidential(type) ? issueClientSecret(random) : undefined;
