/** The calls between services without a topic, as `packages/contracts` declares them. */
import type {
  Ask,
  approvalCalls,
  authzCalls,
  InternalCall,
  identityCalls,
} from '@cardea/contracts';

type Calls = {
  readonly identity: typeof identityCalls;
  readonly approval: typeof approvalCalls;
  readonly authz: typeof authzCalls;
};

/** Calls by the service that answers them. */
export type Peers = { readonly [Service in keyof Calls]: AskAll<Calls[Service]> };
type AskAll<Of> = {
  readonly [Name in keyof Of]: Of[Name] extends InternalCall ? Ask<Of[Name]> : never;
};

/** Implementations of these calls, by a service in this process or by a test. */
export type Offers = { readonly [Service in keyof Peers]?: Partial<Peers[Service]> };

/**
 * Calls the first implementation of the call. It is looked up at the time of the call, because not all services exist
 * when this is created.
 */
export function peersOf(offers: readonly Offers[]): Peers {
  const find = <Answer>(name: string, offered: (of: Offers) => Answer | undefined): Answer => {
    for (const each of offers) {
      const answer = offered(each);
      if (answer !== undefined) return answer;
    }
    throw new Error(`no service offers ${name}`);
  };
  return {
    identity: {
      jwks: () => find('jwks', ({ identity }) => identity?.jwks)(),
      introspect: (asked) => find('introspect', ({ identity }) => identity?.introspect)(asked),
      ended: (asked) => find('ended', ({ identity }) => identity?.ended)(asked),
      origins: () => find('origins', ({ identity }) => identity?.origins)(),
      pageToken: (asked) => find('pageToken', ({ identity }) => identity?.pageToken)(asked),
      proofs: (asked) => find('proofs', ({ identity }) => identity?.proofs)(asked),
      stepUp: (asked) => find('stepUp', ({ identity }) => identity?.stepUp)(asked),
      facts: (asked) => find('facts', ({ identity }) => identity?.facts)(asked),
      people: (asked) => find('people', ({ identity }) => identity?.people)(asked),
    },
    approval: {
      open: (asked) => find('open', ({ approval }) => approval?.open)(asked),
      get: (asked) => find('get', ({ approval }) => approval?.get)(asked),
      consume: (asked) => find('consume', ({ approval }) => approval?.consume)(asked),
    },
    authz: {
      holders: (asked) => find('holders', ({ authz }) => authz?.holders)(asked),
      check: (asked) => find('check', ({ authz }) => authz?.check)(asked),
    },
  };
}

/** The offers of several modules or services, merged. */
export const mergedOffers = (all: readonly (Offers | undefined)[]): Offers => ({
  identity: Object.assign({}, ...all.map((each) => each?.identity)),
  approval: Object.assign({}, ...all.map((each) => each?.approval)),
  authz: Object.assign({}, ...all.map((each) => each?.authz)),
});
