/**
 * The claims that an administrator has defined for an application, reduced to those that its user consents to. This one
 * function serves id_tokens, userinfo and access tokens of resource servers (`docs/design/oauth.md`, Claims of an
 * application).
 */
import type { ExistingUser, UserDirectory } from '../../accounts/accounts.module.ts';
import { coversClaim, type GivenConsent } from '../../consents/consents.module.ts';
import {
  type ApplicationClaim,
  type ClaimUse,
  METADATA_SOURCE,
  OVERAGE,
  type Workspaces,
} from '../../workspaces/workspaces.module.ts';
import type { OAuthClient } from '../server/clients.ts';

/** The limit for all of an application's claims together, as JSON in the token. */
export const CLAIMS_BYTES_MAX = 2_048;

export type ClaimsOfUser = {
  readonly use: ClaimUse;
  readonly user: ExistingUser;
  readonly client: Pick<OAuthClient, 'tenantId'> & {
    readonly application: Pick<OAuthClient['application'], 'claims' | 'first_party'>;
  };
  readonly consent: Pick<GivenConsent, 'claims'>;
  /** The scopes of the token, and the OpenID Connect scopes that were granted with it. */
  readonly scopes: readonly string[];
};
export type ApplicationClaims = (
  of: ClaimsOfUser,
) => Promise<{ readonly [claim: string]: unknown }>;

type Dependencies = {
  readonly userDirectory: Pick<UserDirectory, 'localeOf' | 'metadataOf'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
};

export function applicationClaims(needs: Dependencies): ApplicationClaims {
  return async ({ use, user, client, consent, scopes }) => {
    const { claims, first_party } = client.application;
    const given = claims.filter(
      (claim) =>
        claim.in.includes(use) &&
        scopes.includes(claim.scope) &&
        (first_party || coversClaim(consent.claims, claim)),
    );
    // Most applications define no claims, so their users' data is not decrypted.
    if (given.length === 0) return {};
    const facts = await factsFor(needs, given, { user, tenantId: client.tenantId });
    const entries = given
      .map(({ name, from }) => [name, factAt(facts, from)] as const)
      .filter(([, value]) => value !== undefined && value !== null);
    return withinBytes(entries);
  };
}

type Facts = {
  readonly metadata: Awaited<ReturnType<UserDirectory['metadataOf']>> | undefined;
  readonly roles: readonly string[];
  readonly locale: string | null;
  readonly slug: string | undefined;
};

async function factsFor(
  { userDirectory, workspaces }: Dependencies,
  claims: readonly ApplicationClaim[],
  { user, tenantId }: { readonly user: ExistingUser; readonly tenantId: string },
): Promise<Facts> {
  const wants = (matches: (from: string) => boolean) => claims.some(({ from }) => matches(from));
  const [metadata, locale, tenant] = await Promise.all([
    wants((from) => METADATA_SOURCE.test(from)) ? userDirectory.metadataOf(user) : undefined,
    wants((from) => from === 'locale') ? userDirectory.localeOf(user) : null,
    wants((from) => from === 'tenant.slug') ? workspaces.tenant(tenantId) : undefined,
  ]);
  return { metadata, roles: user.roles, locale, slug: tenant?.slug };
}

function factAt({ metadata, roles, locale, slug }: Facts, from: string): unknown {
  switch (from) {
    case 'roles':
      return roles;
    case 'locale':
      return locale;
    case 'tenant.slug':
      return slug;
  }
  const [, kind, path = ''] = METADATA_SOURCE.exec(from) ?? [];
  if (metadata === undefined || (kind !== 'public_metadata' && kind !== 'private_metadata')) {
    return undefined;
  }
  return path.split('.').reduce<unknown>(memberOf, metadata[kind]);
}

/** List indexes are not accepted as keys, since the entry at an index changes with the list. */
const memberOf = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, key)
    ? (value as { readonly [key: string]: unknown })[key]
    : undefined;

type Entry = readonly [name: string, value: unknown];

/**
 * Returns whole claims only, in the application's order. A claim that does not fit is replaced by `<name>_overage:
 * true`. Room is reserved for the overage marker of every later claim.
 */
export function withinBytes(entries: readonly Entry[]): { readonly [claim: string]: unknown } {
  const smallest = entries.map((entry) => Math.min(bytesOf(entry), bytesOf(overageOf(entry))));
  let later = smallest.reduce((sum, bytes) => sum + bytes, 0);
  let used = OBJECT_BYTES;
  const kept = entries.map((entry, at) => {
    later -= smallest[at] ?? 0;
    const fits = used + bytesOf(entry) + later <= CLAIMS_BYTES_MAX;
    const chosen = fits ? entry : overageOf(entry);
    used += bytesOf(chosen);
    return chosen;
  });
  return Object.fromEntries(kept);
}

/** The two braces of the object. */
const OBJECT_BYTES = 2;
const overageOf = ([name]: Entry): Entry => [`${name}${OVERAGE}`, true];
/** The bytes of one entry with its colon and comma. */
const bytesOf = ([name, value]: Entry): number =>
  Buffer.byteLength(JSON.stringify(name)) + Buffer.byteLength(JSON.stringify(value)) + 2;
