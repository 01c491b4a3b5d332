/** A service is a list of modules. Each contains what changes together, and exports this one value. */
import type { Consumer, RelayHandlers } from '@cardea/event-bus';
import { madeTotal, type Total } from '@cardea/event-store';
import type { Endpoint } from '@cardea/http';
import type { Projection } from '@cardea/read-models';
import { mergedOffers, type Offers } from './peers/peers.ts';
import type { Policy } from './policy.ts';
import type { Loop, Service } from './service.ts';

export type Module = {
  readonly endpoints?: readonly Endpoint[];
  readonly projections?: readonly Total<Projection>[];
  readonly policies?: readonly Policy[];
  readonly consumers?: readonly Total<Consumer>[];
  /** The integration events for this module's own events. */
  readonly relay?: RelayHandlers;
  readonly loops?: readonly Loop[];
  /** Runs before the first request, in the order of the list. It is repeated while a dependency is unavailable. */
  readonly start?: () => Promise<void>;
  /** Runs in the reverse order. */
  readonly stop?: () => Promise<void>;
  readonly degraded?: () => { readonly [name: string]: string };
  readonly measure?: () => Promise<void>;
  readonly offers?: Offers;
};

/** `more` belongs to the service as a whole: its own authenticator, the noun of its refusals. */
export function serviceOf(
  modules: readonly Module[],
  more: Pick<Service, 'authenticator' | 'denialNoun'> = {},
): Service {
  return {
    ...more,
    endpoints: modules.flatMap(({ endpoints }) => endpoints ?? []),
    projections: modules.flatMap(({ projections }) => projections ?? []),
    policies: modules.flatMap(({ policies }) => policies ?? []),
    consumers: modules.flatMap(({ consumers }) => consumers ?? []),
    loops: modules.flatMap(({ loops }) => loops ?? []),
    relay: relayOf(modules),
    starts: modules.flatMap(({ start }) => start ?? []),
    stop: async () => {
      for (const { stop } of modules.toReversed()) await stop?.();
    },
    degraded: () => Object.assign({}, ...modules.map(({ degraded }) => degraded?.() ?? {})),
    measure: async () => {
      await Promise.all(modules.map(({ measure }) => measure?.()));
    },
    offers: mergedOffers(modules.map(({ offers }) => offers)),
  };
}

/** An event belongs to one stream and a stream to one module, so each event type has one module's handler. */
function relayOf(modules: readonly Module[]): RelayHandlers {
  const all = new Map<string, RelayHandlers[string]>();
  for (const [type, handler] of modules.flatMap(({ relay = {} }) => Object.entries(relay))) {
    if (all.has(type)) throw new Error(`two modules map ${type}`);
    all.set(type, handler);
  }
  return madeTotal(Object.fromEntries(all));
}
