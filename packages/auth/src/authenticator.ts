import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { parseKey } from '@cardea/crypto';
import { type Clock, expiringCache } from '@cardea/runtime';
import type {
  Authenticator,
  ClientPrincipal,
  IntrospectedKey,
  KeyMisses,
  PossessionProof,
  Principal,
  Revocation,
  Revocations,
  TooManyMisses,
  Unproven,
  UserPrincipal,
} from './principal.ts';
import { capabilityOf } from './principal-of.ts';
import type { DpopProofs } from './tokens/dpop-proof.ts';
import { type Accepted, credentialDigest, type TokenVerifier } from './tokens/token-verifier.ts';

/** How long an introspection response of identity is cached. A revocation ends it at once. */
const INTROSPECTION_MS = 30_000;
const INTROSPECTIONS_MAX = 10_000;

export type AuthenticatorDependencies = {
  readonly verifier: TokenVerifier;
  /** Identity's response about an opaque key; undefined if it is inactive. Throws when identity cannot be asked. */
  readonly introspect: (credential: string) => Promise<IntrospectedKey | undefined>;
  readonly revocations: Pick<Revocations, 'isRevoked' | 'subscriptionEpoch' | 'look'>;
  readonly misses: KeyMisses;
  readonly dpop: DpopProofs;
  readonly clock: Clock;
};

/**
 * Verifies tokens by their signature and keys by introspection; both are also checked against the
 * revocation list.
 */
export function authenticator(needs: AuthenticatorDependencies): Authenticator {
  const byKey = keyHolders(needs);
  const digestOf = connectionDigests();
  return {
    authenticate: (credential, ip, connection, possession) => {
      const digest = digestOf(credential, connection);
      if (credential.startsWith('svc_') || credential.startsWith('agk_')) {
        return possession === undefined ? byKey(credential, digest, ip) : INVALID_TOKEN;
      }
      const verified = needs.verifier.verify('access', credential, digest);
      const proof = { dpop: needs.dpop, digest, possession };
      return verified instanceof Promise
        ? verified.then((token) => accepted(token, proof))
        : accepted(verified, proof);
    },
    confirm: async (principal) => {
      switch (principal.kind) {
        case 'user':
          return confirmedUser(needs.revocations, principal);
        case 'client':
          return confirmedMachine(needs.revocations, principal);
        default:
          return principal;
      }
    },
    capability: async (token) => {
      const verified = await needs.verifier.verify('capability', token);
      if ('ok' in verified) {
        const capability = capabilityOf(verified.ok);
        return capability === undefined ? { bad: 'invalid' } : { ok: capability };
      }
      if (verified.bad === 'invalid') return { bad: 'invalid' };
      const claims = capabilityOf(verified.claims);
      return claims === undefined ? { bad: 'invalid' } : { bad: 'expired', claims };
    },
  };
}

/**
 * Most clients send one credential with all requests of a connection, so it is hashed once per connection. A proxy may
 * send the credentials of several callers over one connection. A map finds them by a hash with a secret seed, so its
 * time does not reveal how similar two credentials are.
 */
export function connectionDigests(digestOf = credentialDigest) {
  /** The last credential of each connection. It is forgotten with the connection. */
  const lastOf = new WeakMap<object, ReadonlyMap<string, string>>();
  return (credential: string, connection: object | undefined): string => {
    const known = connection && lastOf.get(connection)?.get(credential);
    if (known !== undefined) return known;
    const digest = digestOf(credential);
    if (connection !== undefined) lastOf.set(connection, new Map([[credential, digest]]));
    return digest;
  };
}

async function confirmedUser(
  { look }: Pick<Revocations, 'look'>,
  principal: UserPrincipal,
): Promise<UserPrincipal | undefined> {
  const { id, impersonatedBy, issuedAt: at, tenantId, authTime } = principal;
  const users = impersonatedBy === null ? [id] : [id, impersonatedBy];
  const ofToken: readonly Revocation[] = [
    ...users.flatMap((user): Revocation[] => [
      { kind: 'user', id: user },
      { kind: 'rank', id: user, at },
    ]),
    { kind: 'tenant', id: tenantId },
  ];
  const ofSignIn = authTime === null ? [] : [signInOf(principal)];
  const { revoked } = await look([...ofToken, ...ofSignIn]);
  if (revoked.slice(0, ofToken.length).includes(true)) return undefined;
  return revoked.includes(true) ? { ...principal, authTime: null } : principal;
}

/** The revocation that ends the sign-in of a token: of its session, or of all sign-ins of its user. */
const signInOf = ({ id, issuedAt: at, sessionId }: UserPrincipal): Revocation =>
  sessionId === null ? { kind: 'signin', id, at } : { kind: 'sid', id: sessionId };

const INVALID_TOKEN = { kind: 'unproven', error: 'invalid_token' } as const;
const INVALID_PROOF = { kind: 'unproven', error: 'invalid_dpop_proof' } as const;

/** A bound token requires a proof of its key. Any other token must come without a proof. */
function accepted(
  verified: Accepted,
  {
    dpop,
    digest,
    possession,
  }: {
    readonly dpop: DpopProofs;
    readonly digest: string;
    readonly possession: PossessionProof | undefined;
  },
): Principal | Unproven | undefined | Promise<Principal | Unproven | undefined> {
  if (!('ok' in verified)) return possession === undefined ? undefined : INVALID_TOKEN;
  const { principal, thumbprint } = verified.caller;
  if (possession === undefined) return thumbprint === undefined ? principal : INVALID_TOKEN;
  if (thumbprint === undefined) return INVALID_TOKEN;
  const { proof, method, path } = possession;
  const proven = dpop.isProven(proof, { method, path, thumbprint, tokenDigest: digest });
  return proven.then((isProven) => (isProven ? principal : INVALID_PROOF));
}

async function confirmedMachine(
  { look }: Pick<Revocations, 'look'>,
  principal: ClientPrincipal,
): Promise<ClientPrincipal | undefined> {
  const { id, issuedAt: at, tenantId } = principal;
  const { revoked } = await look([
    { kind: 'key', id },
    { kind: 'rank', id, at },
    { kind: 'tenant', id: tenantId },
  ]);
  return revoked.includes(true) ? undefined : principal;
}

type Authenticated = Principal | TooManyMisses | undefined;

/**
 * An attempt with an unknown key counts against its address before identity is asked, and no longer counts if identity
 * accepts the key. A key that was accepted here before is always looked up, however many wrong keys came from its
 * address. So one caller's guesses do not block other callers behind the same address.
 */
function keyHolders(needs: AuthenticatorDependencies) {
  const { misses } = needs;
  const introspected = introspections(needs);
  const missed = async (ip: string): Promise<Authenticated> => {
    const taken = await misses.take(ip);
    if (!taken.allowed) return tooMany(taken);
    await taken.keep();
    return undefined;
  };
  // The checksum is compared first, so a typo costs neither a lookup nor a call.
  const find = async (bearer: string, name: string, ip: string) =>
    parseKey(bearer) === undefined
      ? undefined
      : (await introspected.find(bearer, name))?.principalFrom(ip);
  const tried = async (bearer: string, name: string, ip: string): Promise<Authenticated> => {
    if (introspected.wasKnown(name)) return (await find(bearer, name, ip)) ?? missed(ip);
    const taken = await misses.take(ip);
    if (!taken.allowed) return tooMany(taken);
    const principal = await find(bearer, name, ip).catch(async (error) => {
      await taken.giveBack();
      throw error;
    });
    await (principal === undefined ? taken.keep() : taken.giveBack());
    return principal;
  };
  return (bearer: string, name: string, ip: string): Authenticated | Promise<Authenticated> => {
    const current = introspected.current(name);
    if (current === undefined) return tried(bearer, name, ip);
    return current.principalFrom(ip) ?? missed(ip);
  };
}

const tooMany = ({ retryAfterSeconds }: { readonly retryAfterSeconds: number }) =>
  ({ kind: 'too_many_misses', retryAfterSeconds }) as const;

type Held = {
  readonly key: IntrospectedKey;
  /** Returns undefined if the key's networks do not include the address. */
  readonly principalFrom: (ip: string) => Principal | undefined;
  /**
   * The subscription epoch in which the response was cached. In a later epoch, a revocation of the key may have been
   * missed.
   */
  readonly subscriptionEpoch: number | undefined;
};

/**
 * Positive responses are cached, negative ones never, so that a new key works at once. While revocations may have been
 * missed, identity is asked every time. `name` is the key's SHA-256.
 */
function introspections({ introspect, revocations, clock }: AuthenticatorDependencies) {
  const held = expiringCache<string, Held>(clock, {
    entriesMax: INTROSPECTIONS_MAX,
    ttlMs: INTROSPECTION_MS,
    // A key that was valid once is no guess, however long ago that was.
    knownMs: Number.POSITIVE_INFINITY,
  });
  const asked = new Map<string, Promise<IntrospectedKey | undefined>>();

  const ask = (name: string, credential: string): Promise<IntrospectedKey | undefined> => {
    const underWay = asked.get(name);
    if (underWay !== undefined) return underWay;
    const asking = introspect(credential).finally(() => asked.delete(name));
    asked.set(name, asking);
    return asking;
  };
  const isLive = (key: IntrospectedKey): boolean =>
    (key.expiresAt === null || key.expiresAt > clock.now().getTime() / 1000) &&
    !isKeyRevoked(key, revocations) &&
    !(key.stamp !== undefined && revocations.isRevoked('key', key.stamp));

  const current = (name: string): Held | undefined => {
    const known = held.get(name);
    if (known === undefined) return undefined;
    const subscriptionEpoch = revocations.subscriptionEpoch();
    const isFresh =
      subscriptionEpoch !== undefined && known.subscriptionEpoch === subscriptionEpoch;
    return isFresh && isLive(known.key) ? known : undefined;
  };
  const find = async (credential: string, name: string): Promise<Held | undefined> => {
    const subscriptionEpoch = revocations.subscriptionEpoch();
    const key =
      subscriptionEpoch === undefined ? await introspect(credential) : await ask(name, credential);
    if (key === undefined || !isLive(key)) {
      held.delete(name);
      return undefined;
    }
    const found = { key, principalFrom: principalsOf(key), subscriptionEpoch };
    if (subscriptionEpoch !== undefined) held.set(name, found);
    return found;
  };
  return { current, find, wasKnown: (name: string) => held.wasSet(name) };
}

function isKeyRevoked(key: IntrospectedKey, list: Pick<Revocations, 'isRevoked'>): boolean {
  if (list.isRevoked('tenant', key.tenantId)) return true;
  if (key.kind === 'api_key') return list.isRevoked('key', key.id);
  return (
    list.isRevoked('agent', key.id) || (key.keyId !== null && list.isRevoked('key', key.keyId))
  );
}

function principalsOf(key: IntrospectedKey): (ip: string) => Principal | undefined {
  if (key.kind === 'api_key') {
    const { expiresAt: _, stamp: _stamp, ...principal } = key;
    return () => principal;
  }
  const { expiresAt: _, stamp: _stamp, allowedCidrs, ...principal } = key;
  const isAllowed = allowedFrom(allowedCidrs);
  return (ip) => (isAllowed(ip) ? principal : undefined);
}

/** Without blocks, every address is allowed. An address that cannot be parsed is in no block. */
export function allowedFrom(cidrs: readonly string[]): (ip: string) => boolean {
  if (cidrs.length === 0) return () => true;
  const allowed = new BlockList();
  for (const cidr of cidrs) {
    const [net = '', bits] = cidr.split('/');
    const of = isIPv4(net) ? 'ipv4' : 'ipv6';
    if (isIPv4(net) || isIPv6(net)) {
      allowed.addSubnet(net, bits === undefined ? (of === 'ipv4' ? 32 : 128) : Number(bits), of);
    }
  }
  return (ip) => {
    const address = ip.replace(/^::ffff:(?=\d+\.)/i, '');
    const family = isIPv4(address) ? 'ipv4' : isIPv6(address) ? 'ipv6' : undefined;
    return family !== undefined && allowed.check(address, family);
  };
}
