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
import { DEFAULT_CLIENT_ALGORITHM } from '../../../adapters/client-algorithms.ts';
import { closed } from '../../../http/answers.ts';
import type { SnapshotCache } from '../../../streams/snapshot-cache.ts';
import { tokensBeforeAt } from '../../../streams/tokens-before.ts';
import type { Workspaces } from '../../workspaces.ts';
import {
  type ApplicationFacts,
  type ApplicationFields,
  applications,
  DEFAULT_SCOPES,
} from '../application.ts';
import { readClaims } from '../application-claims.ts';
import {
  ApplicationChange,
  ApplicationShape,
  CreatedApplication,
  NewApplication,
  shownApplication,
} from '../application-shape.ts';
import {
  type ApplicationFault,
  actsForUsers,
  applicationFault,
  changeApplication,
  createApplication,
  defaultGrantTypes,
  deleteApplication,
  deploymentOf,
  isConfidential,
  isThere,
} from './administer.ts';
import {
  byAdministrator,
  NOT_HIGHEST,
  NOT_OWNER,
  refusedFor,
  unusablePower,
} from './by-administrator.ts';
import { endLateTokens } from './end-late-tokens.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'clock' | 'command' | 'ids' | 'random' | 'sealer' | 'settings' | 'streams'
> & {
  readonly snapshots: Pick<SnapshotCache, 'load'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
};

export const APPLICATIONS_PATH = '/api/v1/admin/applications';
export const ApplicationId = Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) });

export const createApplicationRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      tag: 'Applications',
      who: ['admin'],
      name: 'create_application',
      machine: 'applications:write',
      access: { class: 'settings', stepUp: 'users' },
      summary: 'Register an application',
      description:
        'Registers an application. Its type cannot be changed later. The answer shows the client secret, where the type has one; no later call shows it again. Applications that act for people or receive their private metadata, and machines with a role or scope, are made only by a person of the highest role of the tenant.',
      method: 'post',
      path: APPLICATIONS_PATH,
      body: NewApplication,
      ok: CreatedApplication,
      response: { status: 201, isSecret: true },
      refusals: {
        invalid_request: 400,
        invalid_redirect_uri: 400,
        invalid_scope: 400,
        unknown_role: 400,
        forbidden: 403,
        not_found: 404,
        already_created: 409,
        idempotency_key_reused: 422,
      },
      repeat: 'by_key',
      consistency: { waitsFor: ['workspaces'] },
    },
    async (request) => {
      const { body, tenantId } = request;
      const tenant = await needs.workspaces.tenant(tenantId);
      if (tenant === undefined) return { refused: 'not_found' };
      const unusable = unusablePower(tenant, body);
      if (unusable !== undefined) return unusable;
      const command = await needs.command(request);
      const id = newId(needs, request, 'application');
      const created_at = command.now.toISOString();
      const facts = newFacts(needs, { id, created_at, body, environment: tenant.environment });
      const by = byAdministrator(request);
      if (actsForUsers(facts) && !by.isHighest) return NOT_HIGHEST;
      const fault = applicationFault(facts.type, facts, deploymentOf(needs.settings));
      if (fault !== undefined) return refusedForFault(fault);
      const secret = newSecret(needs, facts);
      const ownHash = await requestHash(needs, request);
      const create = {
        ...facts,
        ...by,
        secret_hash: secret?.secretHash ?? null,
        request_hash: ownHash,
      };
      const decided = await needs.streams.decideOn(applications, id, command, (application) =>
        createApplication(create, application),
      );
      const { state } = decided;
      if (!decided.accepted && decided.reason === 'not_owner') return NOT_OWNER;
      if (!isThere(state)) return { refused: 'not_found' };
      if (!decided.accepted || decided.repeated) {
        const reused = reusedKey(ownHash, state.requestHash);
        if (reused !== undefined) return reused;
        // The secret was shown once and cannot be shown again.
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
      tag: 'Applications',
      who: ['admin'],
      name: 'get_application',
      machine: 'applications:read',
      access: { class: 'things', applicationScope: 'account' },
      summary: 'An application',
      description: 'Shows one application, without its secret.',
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
  needs: Pick<Dependencies, 'clock' | 'command' | 'settings' | 'streams' | 'workspaces'>,
): Endpoint =>
  endpoint(
    {
      tag: 'Applications',
      who: ['admin'],
      name: 'update_application',
      machine: 'applications:write',
      access: { class: 'settings', stepUp: 'users' },
      repeat: 'safe',
      summary: 'Change an application',
      description:
        'Changes an application; what the body does not name stays, and the type cannot be changed. The change is checked as the whole that it leaves.',
      method: 'patch',
      path: `${APPLICATIONS_PATH}/{id}`,
      params: ApplicationId,
      body: ApplicationChange,
      ok: ApplicationShape,
      refusals: {
        invalid_request: 400,
        invalid_redirect_uri: 400,
        invalid_scope: 400,
        unknown_role: 400,
        forbidden: 403,
        not_found: 404,
      },
      consistency: { waitsFor: ['workspaces', 'revocations'] },
    },
    async (request) => {
      const { params, body, tenantId } = request;
      const tenant = await needs.workspaces.tenant(tenantId);
      if (tenant === undefined) return { refused: 'not_found' };
      const unusable = unusablePower(tenant, body);
      if (unusable !== undefined) return unusable;
      const command = await needs.command(request);
      const fields = changedFields(body);
      const deployment = deploymentOf(needs.settings);
      const change = { fields, deployment, ...byAdministrator(request) };
      const decided = await needs.streams.decideOn(applications, params.id, command, (before) =>
        changeApplication({ ...change, tokensBefore: tokensBeforeAt(needs.clock.now()) }, before),
      );
      const { state } = decided;
      if (!decided.accepted) {
        const fault = isThere(state)
          ? applicationFault(state.type, { ...state, ...fields }, deployment)
          : undefined;
        return fault?.code === decided.reason ? refusedForFault(fault) : refusedFor(decided.reason);
      }
      if (!isThere(state)) return { refused: 'not_found' };
      const ended = await endLateTokens(needs, params.id, command, decided.events);
      return { ok: shownApplication(tenantId, state), wrote: ended ?? decided.position };
    },
  );

export const deleteApplicationRoute = (
  needs: Pick<Dependencies, 'command' | 'streams'>,
): Endpoint =>
  endpoint(
    {
      tag: 'Applications',
      who: ['admin'],
      name: 'delete_application',
      machine: 'applications:write',
      access: { class: 'settings', stepUp: 'users' },
      repeat: 'safe',
      summary: 'Delete an application',
      description:
        'Deletes an application: it gets no more tokens, and its publishable key is not accepted any more.',
      method: 'delete',
      path: `${APPLICATIONS_PATH}/{id}`,
      params: ApplicationId,
      ok: closed({ status: Type.Literal('application deleted') }),
      refusals: { forbidden: 403, not_found: 404 },
      consistency: { waitsFor: ['workspaces', 'revocations'] },
    },
    async (request) => {
      const command = await needs.command(request);
      const { id } = request.params;
      const decided = await needs.streams.decideOn(applications, id, command, (application) =>
        deleteApplication({ ...byAdministrator(request), now: command.now }, application),
      );
      if (!decided.accepted) return refusedFor(decided.reason);
      return { ok: { status: 'application deleted' as const }, wrote: decided.position };
    },
  );

function refusedForFault({ code: refused, fault }: ApplicationFault) {
  return { refused, details: refused === 'invalid_redirect_uri' ? fault : [fault] };
}

const changedFields = (body: Static<typeof ApplicationChange>): Partial<ApplicationFields> => {
  const { name, claims, ...fields } = body;
  return {
    ...fields,
    ...(name === undefined ? {} : { name: name.trim() }),
    ...(claims === undefined ? {} : { claims: readClaims(claims) }),
  };
};

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
    post_logout_redirect_uris: body.post_logout_redirect_uris ?? [],
    backchannel_logout_uri: body.backchannel_logout_uri ?? null,
    backchannel_logout_session_required: body.backchannel_logout_session_required ?? false,
    allowed_origins: body.allowed_origins ?? [],
    grant_types: body.grant_types ?? defaultGrantTypes(body.type),
    scopes: body.scopes ?? (body.type === 'm2m' ? [] : DEFAULT_SCOPES),
    first_party: body.first_party ?? false,
    require_par: body.require_par ?? false,
    require_pkce: body.require_pkce ?? true,
    id_token_signed_response_alg: body.id_token_signed_response_alg ?? DEFAULT_CLIENT_ALGORITHM,
    userinfo_signed_response_alg: body.userinfo_signed_response_alg ?? null,
    dpop_bound_access_tokens: body.dpop_bound_access_tokens ?? false,
    claims: readClaims(body.claims ?? []),
    branding: body.branding ?? {},
    jwks: body.jwks ?? [],
    roles: body.roles ?? [],
    machine_scopes: body.machine_scopes ?? [],
  };
}

export const publishableKeyFor = (
  environment: string,
  random: ServiceDependencies['random'],
): string => issuePublishableKey(environment === 'production' ? 'live' : 'test', random);

/** A client that authenticates by its own key can still get a secret if it has none. */
const newSecret = (
  { random }: Pick<Dependencies, 'random'>,
  { type }: Pick<ApplicationFacts, 'type'>,
): Omit<IssuedKey, 'id'> | undefined =>
  isConfidential(type) ? issueClientSecret(random) : undefined;
