/**
 * Claims that an application receives in addition to those of OpenID Connect, each from one fact about its user. Their
 * names never collide with claims that tokens or userinfo use for something else.
 */
export const CLAIM_USES = ['id_token', 'userinfo', 'access_token'] as const;
export type ClaimUse = (typeof CLAIM_USES)[number];

export type ApplicationClaim = {
  readonly name: string;
  /** `roles`, `tenant.slug`, `locale`, or `public_metadata.` or `private_metadata.` followed by a path of keys. */
  readonly from: string;
  /** The claim is left out if this scope was not granted. */
  readonly scope: string;
  readonly in: readonly ClaimUse[];
};

export const CLAIMS_MAX = 20;
export const CLAIM_NAME = /^[A-Za-z_][A-Za-z0-9_.:/-]{0,63}$/;
export const CLAIM_SOURCE_CHARACTERS_MAX = 256;
/** The suffix of the marker that replaces a claim that was too large: `<name>_overage: true`. */
export const OVERAGE = '_overage';

const DEFAULT_SCOPE = 'profile';
const DEFAULT_USES: readonly ClaimUse[] = ['id_token', 'userinfo'];

type NamedClaim = Pick<ApplicationClaim, 'from' | 'name'> & Partial<ApplicationClaim>;

/** Adds defaults for what a request leaves out. */
export const readClaims = (claims: readonly NamedClaim[]): readonly ApplicationClaim[] =>
  claims.map(({ name, from, scope = DEFAULT_SCOPE, in: uses = DEFAULT_USES }) => ({
    name,
    from,
    scope,
    in: uses,
  }));

/** Names are compared without regard to case, since some libraries read claims that way. */
const RESERVED: ReadonlySet<string> = new Set([
  // Defined by RFC 7519, 7800, 8176, 8693, 9068, 9449.
  ...['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti', 'cnf', 'act', 'may_act', 'amr', 'acr'],
  ...['client_id', 'scope', 'auth_time', 'entitlements', 'htm', 'htu', 'ath', 'events'],
  // Defined by OpenID Connect Core 1.0 and the logout specifications.
  ...['name', 'given_name', 'family_name', 'middle_name', 'nickname', 'preferred_username'],
  ...['profile', 'picture', 'website', 'email', 'email_verified', 'gender', 'birthdate'],
  ...['zoneinfo', 'locale', 'phone_number', 'phone_number_verified', 'address', 'updated_at'],
  ...['nonce', 'azp', 'at_hash', 'c_hash', 's_hash', 'sub_jwk', '_claim_names'],
  ...['_claim_sources', 'sid', 'sub_id'],
  // Used by the token classes of `docs/design/tokens.md` and by introspection.
  ...['tid', 'tenant_id', 'org_id', 'app_id', 'roles', 'agent_id', 'agent_session_id', 'asid'],
  ...['cap', 'ver', 'purpose', 'pjti', 'flow', 'enroll', 'akid', 'active', 'token_type'],
  ...['environment', 'allowed_cidrs', 'username', 'kid', 'alg', 'typ', 'jkt'],
  // Names that JavaScript resolves on every object.
  ...['__proto__', 'constructor', 'prototype'],
]);

export const METADATA_SOURCE = /^(public_metadata|private_metadata)\.(.+)$/;
const METADATA_KEYS_MAX = 5;
const UNREADABLE_KEYS: readonly string[] = ['', '__proto__', 'constructor', 'prototype'];
const OTHER_SOURCES: readonly string[] = ['roles', 'tenant.slug', 'locale'];

export type ClaimRule =
  | 'enum'
  | 'groups_unavailable'
  | 'not_m2m'
  | 'pattern'
  | 'reserved_name'
  | 'unique'
  | 'unknown_source';
type ClaimFault = {
  readonly field: string;
  readonly rule: ClaimRule;
  readonly allowed?: readonly string[];
};

/** The first claim that such an application may not have. */
export function claimsFault(
  claims: readonly ApplicationClaim[],
  of: { readonly isMachine: boolean; readonly scopes: readonly string[] },
): ClaimFault | undefined {
  if (claims.length > 0 && of.isMachine) return { field: 'claims', rule: 'not_m2m' };
  const names = new Set<string>();
  for (const [at, { name, from, scope }] of claims.entries()) {
    const field = `claims.${at}`;
    const rule = nameFault(name) ?? (names.has(name) ? 'unique' : undefined);
    if (rule !== undefined) return { field: `${field}.name`, rule };
    names.add(name);
    const source = sourceFault(from);
    if (source !== undefined) return { field: `${field}.from`, rule: source };
    if (!of.scopes.includes(scope)) {
      return { field: `${field}.scope`, rule: 'enum', allowed: of.scopes };
    }
  }
  return undefined;
}

function nameFault(name: string): ClaimRule | undefined {
  if (!CLAIM_NAME.test(name)) return 'pattern';
  const lower = name.toLowerCase();
  return RESERVED.has(lower) || lower.endsWith(OVERAGE) ? 'reserved_name' : undefined;
}

function sourceFault(from: string): ClaimRule | undefined {
  if (OTHER_SOURCES.includes(from)) return undefined;
  // Cardea has no groups of users yet.
  if (from === 'groups') return 'groups_unavailable';
  const [, , path] = METADATA_SOURCE.exec(from) ?? [];
  const keys = path?.split('.') ?? [];
  const isPath = keys.length > 0 && keys.length <= METADATA_KEYS_MAX;
  return isPath && !keys.some((key) => UNREADABLE_KEYS.includes(key))
    ? undefined
    : 'unknown_source';
}

/** Whether it receives private metadata, which administrators store and the users themselves never see. */
export const readsPrivateMetadata = (claims: readonly ApplicationClaim[]): boolean =>
  claims.some(({ from }) => from.startsWith('private_metadata.'));
