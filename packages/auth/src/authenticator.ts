import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { parseKey } from '@cardea/crypto';
import { type Clock, expiringCache } from '@cardea/runtime';
import { connectionDigests } from './credential-digest.ts';
import type {
  Authenticator,
  IntrospectedKey,
  KeyMisses,
  Principal,
  Revocation,
  Revocations,
  TooManyMisses,
} from './principal.ts';
import { capabilityOf, principalOf } from './principal-of.ts';
import type { Accepted, TokenVerifier } from './token-verifier.ts';

/**
 * How long an introspection answer of identity is used without asking again; a revocation ends it at
 * once.
 */
const INTROSPECTION_MS = 30_000;
const INTROSPECTIONS_MAX = 10_000;

export type AuthenticatorDependencies = {
  readonly verifier: TokenVerifier;
  /** Identity's answer on an opaque key; undefined = inactive. Throws when identity cannot be asked. */
  readonly introspect: (credential: string) => Promise<IntrospectedKey | undefined>;
  readonly revocations: Pick<Revocations, 'isRevoked' | 'subscriptionEpoch' | 'look'>;
  readonly misses: KeyMisses;
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
    authenticate: (bearer, ip, connection) => {
      const digest = digestOf(bearer, connection);
      if (bearer.startsWith('svc_') || bearer.startsWith('agk_')) return byKey(bearer, digest, ip);
      const verified = needs.verifier.verify('access', bearer, digest);
      return verified instanceof Promise ? verified.then(accepted) : accepted(verified);
    },
    confirm: async (principal) => {
      if (principal.kind !== 'user') return principal;
      const persons = [principal.id, principal.impersonatedBy].flatMap((id): Revocation[] =>
        id === null
          ? []
          : [
              { kind: 'user', id },
              { kind: 'rank', id, at: principal.issuedAt },
            ],
      );
      const list: Revocation[] = [...persons, { kind: 'tenant', id: principal.tenantId }];
      const { revoked } = await needs.revocations.look(list);
      return revoked.includes(true) ? undefined : principal;
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

const accepted = (verified: Accepted): Principal | undefined =>
  'ok' in verified ? principalOf(verified.ok) : undefined;

type Authenticated = Principal | TooManyMisses | undefined;

/**
 * A key that is taken costs no count, and one that was taken here before is asked for however many
 * others missed from its address: a neighbour's guesses stop nobody who works.
 */
function keyHolders(needs: AuthenticatorDependencies) {
  const { misses } = needs;
  const introspected = introspections(needs);
  const missed = async (ip: string): Promise<Authenticated> => {
    const counted = await misses.count(ip);
    return counted.allowed ? undefined : tooMany(counted);
  };
  const find = async (bearer: string, name: string, ip: string): Promise<Authenticated> => {
    if (!introspected.wasKnown(name)) {
      const room = misses.recall(ip);
      if (!room.allowed) return tooMany(room);
    }
    // The checksum first: a typo costs neither a look-up nor a call.
    const holder =
      parseKey(bearer) === undefined ? undefined : await introspected.find(bearer, name);
    return holder?.principalFrom(ip) ?? missed(ip);
  };
  return (bearer: string, name: string, ip: string): Authenticated | Promise<Authenticated> => {
    const current = introspected.current(name);
    if (current === undefined) return find(bearer, name, ip);
    return current.principalFrom(ip) ?? missed(ip);
  };
}

const tooMany = ({ retryAfterSeconds }: { readonly retryAfterSeconds: number }) =>
  ({ kind: 'too_many_misses', retryAfterSeconds }) as const;

type Held = {
  readonly key: IntrospectedKey;
  /** Undefined where the key's own networks do not include the address. */
  readonly principalFrom: (ip: string) => Principal | undefined;
  /**
   * The subscription epoch in which it was cached; in a later epoch a revocation of it may have been
   * missed.
   */
  readonly subscriptionEpoch: number | undefined;
};

/**
 * Positive answers are cached, negative ones never, so that a new key works at once. While revocations
 * may be missed, identity is asked every time. `name` is the key's SHA-256.
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

/** No blocks: from everywhere. An address that cannot be read is in no block. */
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
