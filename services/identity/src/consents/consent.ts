/**
 * A user's consent to what an application may do in their name. Each grant after a withdrawal begins a new epoch, so
 * nothing that depended on the previous epoch becomes valid again.
 */
import { accept, type Decision, type Stream } from '@cardea/event-store';
import { uuidV5 } from '@cardea/runtime';

/** Scopes by resource. OpenID Connect scopes have the empty name; scopes of a resource server have its identifier. */
export type Granted = { readonly [resource: string]: readonly string[] };

/** A claim that a person has consented to in addition to the claims of scopes, and its source. */
export type ConsentedClaim = { readonly name: string; readonly from: string };

/** `user`: the user consented on a page. `policy`: the application is first-party, so no page was shown. */
export type GrantedBy = 'user' | 'policy';

type ConsentData = {
  readonly id: string;
  readonly user_id: string;
  readonly client_id: string;
  readonly granted: Granted;
  /** All claims that were consented to. Missing if there are none. */
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
  /** The user granted more scopes in the same epoch. `granted` contains all scopes. */
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
  /** The time when the previous epoch ended. Tokens are dated after it. */
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

/** Namespace of derived ids. Any fixed UUID would do. */
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

/** Adds to what was granted. A grant that adds nothing changes nothing. */
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

/**
 * The most claims per consent. They may include claims that the application no longer has, so the oldest are dropped
 * and shown again if needed.
 */
const CLAIMS_MAX = 100;

const claimsOf = (claims: readonly ConsentedClaim[]) =>
  claims.length === 0
    ? {}
    : { claims: claims.slice(-CLAIMS_MAX).map(({ name, from }) => ({ name, from })) };

/** If a claim's name now has another source, the new meaning replaces the old one. */
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

/** The name under which scopes of OpenID Connect itself are stored. */
export const OPENID = '';

/** The form in lists and events: every scope once, and the resources. */
export const shownGrant = (granted: Granted) => ({
  scopes: [...new Set(Object.values(granted).flat())],
  resources: Object.keys(granted).filter((resource) => resource !== OPENID),
});
