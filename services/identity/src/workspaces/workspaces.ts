/** Organizations, tenants and applications. A sign-up creates them together, and all other requests look them up. */

import { DEPLOYMENT_TENANT } from '@cardea/contracts';
import { issuePublishableKey, type Sealer } from '@cardea/crypto';
import { accept, type Command, release, reserve, type Streams } from '@cardea/event-store';
import { isHonestName, isUuid, type Random, uuidFrom } from '@cardea/runtime';
import { DEFAULT_CLIENT_ALGORITHM } from '../adapters/client-algorithms.ts';
import { slugReservations } from '../streams/reservation.ts';
import type { SnapshotCache } from '../streams/snapshot-cache.ts';
import { defaultGrantTypes } from './applications/administer/administer.ts';
import { applications, DEFAULT_SCOPES } from './applications/application.ts';
import { organizations } from './organizations/organization.ts';
import { slugFreeAt } from './tenants/delete/delete.ts';
import type { Environment } from './tenants/environment.ts';
import { type TenantFacts, tenants } from './tenants/tenant.ts';

/** The tenant of events that belong to no tenant: slugs, sign-ups, signing keys. */
export const DEPLOYMENT = DEPLOYMENT_TENANT;
const SLUG_CHARACTERS_MAX = 48;
const SLUG_TRIES_MAX = 8;
const NAME_CHARACTERS_MAX = 128;

/** An organization with its first tenant. */
export type NewWorkspace = {
  readonly organizationId: string;
  readonly tenantId: string;
  readonly applicationId: string;
  readonly organizationName: string;
  readonly tenantName: string;
  readonly environment: Environment;
};

/** A further tenant of an organization. */
export type NewTenantOf = Omit<NewWorkspace, 'organizationName'> & {
  readonly homeTenantId: string;
  readonly displayName: string;
  readonly slug: string;
  /** Whether no other slug may be used. */
  readonly isChosen: boolean;
  readonly requestHash: string | null;
};

/** The number of streams to which the creation of a tenant appends: organization, slug and tenant. */
export const TENANT_APPENDS = 3;

export type SlugTaken = {
  readonly refused: 'slug_taken';
  /** Given for a closed tenant of the same organization. Other organizations learn nothing about it. */
  readonly details?: { readonly free_at: string };
};

export type Workspaces = {
  /** Returns undefined if there is no such tenant, or if it was deleted. */
  readonly tenant: (id: string) => Promise<TenantFacts | undefined>;
  /** Whether this process has recently seen the tenant active. It reads nothing, so the result may be outdated. */
  readonly wasActive: (id: string) => boolean;
  readonly organizationName: (tenant: TenantFacts) => Promise<string>;
  readonly createWorkspace: (of: NewWorkspace, command: Command) => Promise<TenantFacts>;
  readonly createTenant: (of: NewTenantOf, command: Command) => Promise<TenantFacts | SlugTaken>;
  /** Makes the slug of a deleted tenant available again. */
  readonly releaseSlug: (
    of: { readonly tenantId: string; readonly slug: string },
    command: Command,
  ) => Promise<void>;
  /** Creates the application `default`. */
  readonly createApplication: (
    of: Pick<NewWorkspace, 'applicationId' | 'environment'>,
    command: Command,
  ) => Promise<bigint | undefined>;
};

type Dependencies = {
  readonly streams: Streams;
  readonly snapshots: SnapshotCache;
  readonly sealer: Sealer;
  readonly random: Random;
};

export function workspaces(needs: Dependencies): Workspaces {
  const { streams, snapshots } = needs;
  const tenant: Workspaces['tenant'] = async (id) => {
    if (!isUuid(id)) return undefined;
    const found = await snapshots.load(tenants, { tenantId: id, id });
    return found.status === 'active' ? found : undefined;
  };
  return {
    tenant,
    wasActive: (id) => snapshots.guess(tenants, { tenantId: id, id }).status === 'active',
    organizationName: async ({ organizationId, homeTenantId }) => {
      const of = { tenantId: homeTenantId, id: organizationId };
      const organization = await snapshots.load(organizations, of);
      return organization.status === 'active' ? organization.name : '';
    },
    createWorkspace: (of, command) => createWorkspace(needs, of, command),
    createTenant: (of, command) => createTenant(needs, of, command),
    releaseSlug: async ({ tenantId, slug }, command) => {
      const hash = await needs.sealer.indexHash('deployment', 'slug', slug);
      const own = { ...command, metadata: { ...command.metadata, tenantId: DEPLOYMENT } };
      await release(streams, { stream: slugReservations, hash }, tenantId, own);
    },
    createApplication: async ({ applicationId, environment }, command) => {
      const publishable_key = issuePublishableKey(
        environment === 'production' ? 'live' : 'test',
        needs.random,
      );
      const created_at = command.now.toISOString();
      const type = 'spa' as const;
      const facts = {
        id: applicationId,
        name: 'default',
        environment,
        type,
        publishable_key,
        created_at,
        redirect_uris: [],
        post_logout_redirect_uris: [],
        allowed_origins: [],
        backchannel_logout_uri: null,
        backchannel_logout_session_required: false,
        branding: {},
        jwks: [],
        roles: [],
        machine_scopes: [],
        grant_types: defaultGrantTypes(type),
        scopes: DEFAULT_SCOPES,
        id_token_signed_response_alg: DEFAULT_CLIENT_ALGORITHM,
        userinfo_signed_response_alg: null,
        first_party: false,
        require_par: false,
        require_pkce: true,
        dpop_bound_access_tokens: false,
        claims: [],
        secret_hash: null,
        request_hash: null,
      };
      const decided = await streams.decideOn(applications, applicationId, command, (application) =>
        application.status === 'none'
          ? accept({ type: 'ApplicationCreated', data: facts })
          : accept(),
      );
      return decided.position;
    },
  };
}

async function createWorkspace(
  needs: Dependencies,
  of: NewWorkspace,
  command: Command,
): Promise<TenantFacts> {
  const created_at = command.now.toISOString();
  const organization = { id: of.organizationId, name: of.organizationName, created_at };
  await needs.streams.decideOn(organizations, of.organizationId, command, (state) =>
    state.status === 'none'
      ? accept({ type: 'OrganizationCreated', data: organization })
      : accept(),
  );
  const { tenantName, tenantId } = of;
  const named = { displayName: tenantName, slug: slugOf(tenantName), isChosen: false };
  const tenant = { ...of, ...named, homeTenantId: tenantId, requestHash: null };
  const made = await createTenant(needs, tenant, command);
  if ('refused' in made) throw new Error('every slug that was drawn is taken');
  return made;
}

async function createTenant(
  needs: Dependencies,
  of: NewTenantOf,
  command: Command,
): Promise<TenantFacts | SlugTaken> {
  const reserved = await freeSlug(needs, of, command);
  if ('heldBy' in reserved) return slugTaken(needs, of, reserved.heldBy);
  const data = {
    id: of.tenantId,
    organization_id: of.organizationId,
    home_tenant_id: of.homeTenantId,
    name: of.tenantName,
    slug: reserved.slug,
    display_name: of.displayName,
    environment: of.environment,
    created_at: command.now.toISOString(),
    ...(of.requestHash === null ? {} : { request_hash: of.requestHash }),
  };
  const decided = await needs.streams.decideOn(tenants, of.tenantId, command, (state) =>
    state.status === 'none' ? accept({ type: 'TenantCreated', data }) : accept(),
  );
  if (decided.state.status === 'none') throw new Error('a tenant that was just made is not there');
  return decided.state;
}

/** The requested slug if it is free; otherwise one with a random suffix, unless no other may be used. */
async function freeSlug(
  { streams, sealer, random }: Omit<Dependencies, 'snapshots'>,
  { slug: wanted, isChosen, tenantId }: NewTenantOf,
  command: Command,
): Promise<{ readonly slug: string } | { readonly heldBy: string }> {
  let heldBy = '';
  for (let attempt = 0; attempt < (isChosen ? 1 : SLUG_TRIES_MAX); attempt += 1) {
    const slug = attempt === 0 ? wanted : `${wanted}-${ending(random)}`;
    const hash = await sealer.indexHash('deployment', 'slug', slug);
    const own: Command = {
      ...command,
      id: uuidFrom(command.id, 'slug', slug),
      metadata: { ...command.metadata, tenantId: DEPLOYMENT },
    };
    // Trying another suffix is cheaper than finding out whether the owner was ever created.
    const isOrphan = async (): Promise<boolean> => false;
    const value = { stream: slugReservations, hash };
    const found = await reserve(streams, value, tenantId, { command: own, isOrphan });
    if (found.reserved) return { slug };
    heldBy = found.heldBy;
  }
  return { heldBy };
}

async function slugTaken(
  { streams }: Pick<Dependencies, 'streams'>,
  { organizationId }: NewTenantOf,
  holderId: string,
): Promise<SlugTaken> {
  const { state: holder } = await streams.load(tenants, { tenantId: holderId, id: holderId });
  const isOwn = holder.status === 'closed' && holder.organizationId === organizationId;
  return isOwn
    ? { refused: 'slug_taken', details: { free_at: slugFreeAt(holder.shredAt) } }
    : { refused: 'slug_taken' };
}

export const isSlug = (text: string): boolean => text !== '' && slugOf(text) === text;

/** Returns lower-case letters, digits and single hyphens. */
export function slugOf(name: string): string {
  const slug = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_CHARACTERS_MAX)
    .replaceAll(/^-+|-+$/g, '');
  return slug === '' ? 'workspace' : slug;
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const ending = (random: Random) =>
  [...random.bytes(4)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');

/** Returns the trimmed name, or undefined if it is invalid. */
export function companyName(input: string): string | undefined {
  const name = input.trim();
  const tooLong = [...name].length > NAME_CHARACTERS_MAX;
  return name === '' || tooLong || !isHonestName(name) ? undefined : name;
}
