/** The keys that sign tokens: their ring, its schedule, and the public key set. */

import type { Loop, Module, ServiceDependencies } from '@cardea/service';
import { listKeysRoute, rotateKeysRoute } from './administer/administer.route.ts';
import { clientJwksRoute, jwksRoute } from './jwks.route.ts';
import { keyrings } from './keyring.ts';
import { type SigningKeys, signingKeys } from './signing-keys.ts';
import { signingKeysRelay } from './signing-keys-relay.ts';
import { tellChangedKeys } from './tell-changed-keys.policy.ts';

export type { SignForClient } from './client-tokens.ts';
export { type KeyOperations, keyOperations } from './key-operations.ts';
export type { SigningKeys } from './signing-keys.ts';

const DAY_MS = 24 * 3600_000;
const RING_READ_MS = 30_000;
const TICK_MS = 4_000;

type Dependencies = Pick<
  ServiceDependencies,
  | 'cache'
  | 'clock'
  | 'command'
  | 'derive'
  | 'log'
  | 'sealer'
  | 'settings'
  | 'streams'
  | 'systemCommand'
  | 'verifier'
>;

export function signingKeysModule(needs: Dependencies): {
  readonly module: Module;
  readonly signingKeys: SigningKeys;
} {
  const keys = signingKeys({
    ...needs,
    kek: needs.derive('JWT_SECRET', 'jwk-kek/v1'),
    rotateAfterMs: needs.settings.SIGNING_KEY_ROTATION_DAYS * DAY_MS,
  });
  const shown = { ...needs, signingKeys: keys };
  const module: Module = {
    endpoints: [
      jwksRoute(shown),
      clientJwksRoute(shown),
      listKeysRoute(shown),
      rotateKeysRoute(shown),
    ],
    policies: [tellChangedKeys(needs)],
    loops: [ringReader(keys, needs.clock)],
    relay: signingKeysRelay,
    start: keys.start,
    stop: keys.stop,
    offers: { identity: { jwks: keys.latestJwks } },
  };
  return { module, signingKeys: keys };
}

/** Another replica may have changed the ring. Every replica runs the schedule, so any live one suffices. */
const ringReader = (keys: SigningKeys, clock: ServiceDependencies['clock']): Loop => ({
  name: 'identity.keyring',
  run: async (signal, tick) => {
    let readMs = Number.NEGATIVE_INFINITY;
    while (!signal.aborted) {
      tick();
      if (keys.isOld() || clock.monotonicMs() - readMs >= RING_READ_MS) {
        await keys.keepSchedule();
        await keys.refresh();
        readMs = clock.monotonicMs();
      }
      await clock.sleep(TICK_MS, signal);
    }
  },
});

export const signingKeysStreams = [keyrings];
