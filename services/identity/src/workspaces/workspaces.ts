/**
 * Organizations, tenants and applications: created together at sign-up, looked up by all other requests.
 */
import { DEPLOYMENT_TENANT } from '@cardea/contracts';
import { issuePublishableKey, type Sealer } from '@cardea/crypto';
import { accept, type Command, reserve, type Streams } from '@cardea/event-store';
import { type Random, uuidFrom } from '@cardea/runtime';
import { slugReservations } from '../streams/reservation.ts';
import type { SnapshotCache } from '../streams/snapshot-cache.ts';
import { applications } from './applications/application.ts';
import { organizations } from './organizations/organization.ts';
import { type Environment, type TenantFacts, tenants } from './tenants/tenant.ts';

/** Tenant of events that belong to no tenant: slugs, sign-ups, signing keys. */
export const DEPLOYMENT = DEPLOYMENT_TENANT;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const SLUG_CHARACTERS_MAX = 48;
const SLUG_TRIES_MAX = 8;
const NAME_CHARACTERS_MAX = 128;

export type NewWorkspace = {
  readonly organizationId: string;
  readonly tenantId: string;
  readonly applicationId: string;
  readonly organizationName: string;
  readonly tenantName: string;
  readonly environment: Environment;
};

/** Streams that creating a tenant appends to: organization, slug and tenant. */
export const TENANT_APPENDS = 3;

export type Workspaces = {
  /** Undefined if there is no such tenant, or it was deleted. */
  readonly tenant: (id: string) => Promise<TenantFacts | undefined>;
  readonly organizationName: (tenant: TenantFacts) => Promise<string>;
  readonly createTenant: (of: NewWorkspace, command: Command) => Promise<TenantFacts>;
  /** The application `default`. */
  readonly createApplication: (of: NewWorkspace, command: Command) => Promise<bigint | undefined>;
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
    if (!UUID.test(id)) return undefined;
    const found = await snapshots.load(tenants, { tenantId: id, id });
    return found.status === 'active' ? found : undefined;
  };
  return {
    tenant,
    organizationName: async ({ organizationId, homeTenantId }) => {
      const of = { tenantId: homeTenantId, id: organizationId };
      const organization = await snapshots.load(organizations, of);
      return organization.status === 'active' ? organization.name : '';
    },
    createTenant: (of, command) => createTenant(needs, of, command),
    createApplication: async ({ applicationId, environment }, command) => {
      const publishable_key = issuePublishableKey(
        environment === 'production' ? 'live' : 'test',
        needs.random,
      );
      const created_at = command.now.toISOString();
      const facts = { id: applicationId, name: 'default', environment, type: 'spa' as const };
      const decided = await streams.decideOn(applications, applicationId, command, (application) =>
        application.status === 'none'
          ? accept({ type: 'ApplicationCreated', data: { ...facts, publishable_key, created_at } })
          : accept(),
      );
      return decided.position;
    },
  };
}

async function createTenant(
  { streams, sealer, random }: Dependencies,
  of: NewWorkspace,
  command: Command,
): Promise<TenantFacts> {
  const created_at = command.now.toISOString();
  const organization = { id: of.organizationId, name: of.organizationName, created_at };
  await streams.decideOn(organizations, of.organizationId, command, (state) =>
    state.status === 'none'
      ? accept({ type: 'OrganizationCreated', data: organization })
      : accept(),
  );
  const slug = await freeSlug({ streams, sealer, random }, of, command);
  const data = {
    id: of.tenantId,
    organization_id: of.organizationId,
    home_tenant_id: of.tenantId,
    name: of.tenantName,
    slug,
    display_name: of.tenantName,
    environment: of.environment,
    created_at,
  };
  const decided = await streams.decideOn(tenants, of.tenantId, command, (state) =>
    state.status === 'none' ? accept({ type: 'TenantCreated', data }) : accept(),
  );
  if (decided.state.status === 'none') throw new Error('a tenant that was just made is not there');
  return decided.state;
}

/** The name's own slug if it is free, else with a random suffix. */
async function freeSlug(
  { streams, sealer, random }: Omit<Dependencies, 'snapshots'>,
  of: NewWorkspace,
  command: Command,
): Promise<string> {
  const plain = slugOf(of.tenantName);
  for (let tries = 0; tries < SLUG_TRIES_MAX; tries += 1) {
    const slug = tries === 0 ? plain : `${plain}-${ending(random)}`;
    const hash = await sealer.indexHash('deployment', 'slug', slug);
    const own: Command = {
      ...command,
      id: uuidFrom(command.id, 'slug', slug),
      metadata: { ...command.metadata, tenantId: DEPLOYMENT },
    };
    // Another suffix is cheaper than finding out whether the owner was ever created.
    const isOrphan = async (): Promise<boolean> => false;
    const value = { stream: slugReservations, hash };
    const { reserved } = await reserve(streams, value, of.tenantId, { command: own, isOrphan });
    if (reserved) return slug;
  }
  throw new Error('every slug that was drawn is taken');
}

/** Lower-case letters, digits and single hyphens. */
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

/** Trimmed; undefined if it is not a valid name. */
export function companyName(input: string): string | undefined {
  const name = input.trim();
  const tooLong = [...name].length > NAME_CHARACTERS_MAX;
  return name === '' || tooLong || /\p{Cc}/u.test(name) ? undefined : name;
}
