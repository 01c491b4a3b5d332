/**
 * What a user lets an application ask for in their name. Each grant after a withdrawal begins a new epoch,
 * so nothing that rested on the one before is ever valid again.
 */
import { accept, type Decision, type Stream } from '@cardea/event-store';
import { uuidV5 } from '@cardea/runtime';

/** Scopes by resource: those of OpenID Connect under the empty name, those of a resource server under its own. */
export type Granted = { readonly [resource: string]: readonly string[] };

/** What a person has let an application have beside the claims of the scopes: the claim, and what it is made from. */
export type ConsentedClaim = { readonly name: string; readonly from: string };

/** `user`: they were asked; `policy`: a first-party application, whose users are not asked. */
export type GrantedBy = 'user' | 'policy';

type ConsentData = {
  readonly id: string;
  readonly user_id: string;
  readonly client_id: string;
  readonly granted: Granted;
  /** The whole; absent where there is none. */
  readonly claims?: readonly ConsentedClaim[];
  readonly epoch: number;
  readonly by: GrantedBy;
  readonly at: string;
};
export type ConsentEvent =
  | {
      readonly type: 'ConsentGranted';
      readonly concerns?: 'relay' | 'consents';
      readonly data: ConsentData;
    }
  /** The same epoch, more scopes: `granted` is the whole. */
  | {
      readonly type: 'ConsentExtended';
      readonly concerns?: 'relay' | 'consents';
      readonly data: ConsentData;
    }
  | {
      readonly type: 'ConsentRevoked';
      readonly data: {
        readonly id: string;
        readonly user_id: string;
        readonly client_id: string;
        readonly epoch: number;
        readonly at: string;
      };
    };

export type GivenConsent = {
  readonly status: 'active' | 'revoked';
  readonly id: string;
  readonly userId: string;
  readonly clientId: string;
  readonly granted: Granted;
  readonly claims: readonly ConsentedClaim[];
  readonly epoch: number;
  readonly grantedAt: string;
  /** When the epoch before ended; tokens are dated after it. */
  readonly revokedAt: string | null;
};
export type Consent = { readonly status: 'none' } | GivenConsent;

export const consents: Stream<Consent, ConsentEvent> = {
  noun: 'consent',
  initial: { status: 'none' },
  evolve: (before, { type, data }) => {
    switch (type) {
      case 'ConsentGranted':
        return {
          status: 'active',
          id: data.id,
          userId: data.user_id,
          clientId: data.client_id,
          granted: data.granted,
          claims: data.claims ?? [],
          epoch: data.epoch,
          grantedAt: data.at,
          revokedAt: before.status === 'none' ? null : before.revokedAt,
        };
      case 'ConsentExtended':
        return before.status === 'none'
          ? before
          : { ...before, granted: data.granted, claims: data.claims ?? [] };
      case 'ConsentRevoked':
        return before.status === 'none'
          ? before
          : { ...before, status: 'revoked', revokedAt: data.at };
    }
  },
};

/** Any fixed UUID of our own. */
const NAMESPACE = 'b1f6a3de-4f0c-5d53-8a5e-93e1b0c8d7f4';

export const consentId = (of: {
  readonly tenantId: string;
  readonly userId: string;
  readonly clientId: string;
}): string => uuidV5(NAMESPACE, JSON.stringify([of.tenantId, of.userId, of.clientId]));

export type Grant = {
  readonly id: string;
  readonly userId: string;
  readonly clientId: string;
  readonly granted: Granted;
  readonly claims?: readonly ConsentedClaim[];
  readonly by: GrantedBy;
  readonly now: Date;
};

/** What was granted before stays granted; a grant that adds nothing changes nothing. */
export function grant(
  { id, userId, clientId, granted, claims = [], by, now }: Grant,
  consent: Consent,
): Decision<ConsentEvent, never> {
  const common = { id, user_id: userId, client_id: clientId, by, at: now.toISOString() };
  if (consent.status === 'active') {
    const whole = union(consent.granted, granted);
    const added = claims.filter((claim) => !coversClaim(consent.claims, claim));
    if (covers(consent.granted, granted) && added.length === 0) return accept();
    const data = {
      ...common,
      granted: whole,
      ...claimsOf([...withoutNames(consent.claims, added), ...added]),
      epoch: consent.epoch,
    };
    return accept({ type: 'ConsentExtended', data });
  }
  const epoch = consent.status === 'none' ? 1 : consent.epoch + 1;
  const data = { ...common, granted, ...claimsOf(claims), epoch };
  return accept({ type: 'ConsentGranted', data });
}

/** Claims that the application no longer has may stand there, too: the oldest are forgotten, and shown again if need be. */
const CLAIMS_MAX = 100;

const claimsOf = (claims: readonly ConsentedClaim[]) =>
  claims.length === 0
    ? {}
    : { claims: claims.slice(-CLAIMS_MAX).map(({ name, from }) => ({ name, from })) };

/** A name that means something else by now replaces what it meant. */
const withoutNames = (
  claims: readonly ConsentedClaim[],
  replaced: readonly ConsentedClaim[],
): readonly ConsentedClaim[] =>
  claims.filter(({ name }) => !replaced.some((each) => each.name === name));

export const coversClaim = (
  whole: readonly ConsentedClaim[],
  { name, from }: ConsentedClaim,
): boolean => whole.some((claim) => claim.name === name && claim.from === from);

export const covers = (whole: Granted, part: Granted): boolean =>
  Object.entries(part).every(([resource, scopes]) => {
    const there = whole[resource];
    return there !== undefined && scopes.every((scope) => there.includes(scope));
  });

function union(first: Granted, second: Granted): Granted {
  const resources = [...new Set([...Object.keys(first), ...Object.keys(second)])];
  return Object.fromEntries(
    resources.map((resource) => [
      resource,
      [...new Set([...(first[resource] ?? []), ...(second[resource] ?? [])])],
    ]),
  );
}

/** Scopes of OpenID Connect itself stand under this name. */
export const OPENID = '';

/** As lists and events show it: every scope once, and the resources. */
export const shownGrant = (granted: Granted) => ({
  scopes: [...new Set(Object.values(granted).flat())],
  resources: Object.keys(granted).filter((resource) => resource !== OPENID),
});
