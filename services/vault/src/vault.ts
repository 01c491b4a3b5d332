/** Everything that the endpoints, loops, consumers and policies of vault share, built once from its needs. */
import { wrapKeys } from '@cardea/crypto';
import type { Request } from '@cardea/http';
import { uuidFrom } from '@cardea/runtime';
import type { ServiceNeeds } from '@cardea/service';
import QuickLRU from 'quick-lru';
import { type DataKeys, dataKeys } from './adapters/data-keys.ts';
import { type SecretStore, secretStore } from './adapters/secret-store.ts';
import { type Epochs, epochs, type Memo, memo } from './epochs.ts';
import { type RefusalRecorder, refusalRecorder } from './grants/refusals/recorder.ts';
import { type ReuseCounter, reuseCounter } from './grants/reuse.ts';
import type { Slot } from './grants/slot.ts';
import { bucket } from './grants/vend/bucket.ts';
import { type IdentityFacts, identityFacts } from './identity-facts/identity-facts.ts';
import type { PolicySet } from './policies/policy.ts';
import { type Catalog, catalog } from './services/catalog.ts';
import type { ServiceRecord } from './services/service.ts';

export type Vault = ServiceNeeds & {
  readonly keys: DataKeys;
  readonly secrets: SecretStore;
  readonly catalog: Catalog;
  readonly facts: IdentityFacts;
  readonly epochs: Epochs;
  readonly memos: {
    readonly services: Memo<ServiceRecord | undefined>;
    readonly policies: Memo<PolicySet>;
    readonly slots: Memo<Slot>;
  };
  /** The slot that a session asked for last: it is likely to be the next one too. */
  readonly lastSlots: QuickLRU<string, string>;
  readonly refusals: RefusalRecorder;
  readonly reuse: ReuseCounter;
  /** False: the session vends too fast. */
  readonly sessionRate: (session: string) => boolean;
  /** False: the slot is refreshed too often; asked where the cache is away. */
  readonly forceRate: (slotId: string) => boolean;
};

const SESSIONS_MAX = 10_000;
const BURST_FACTOR = 2;
const FORCED_PER_MINUTE = 10;
const MINUTE_S = 60;

export function vaultOf(needs: ServiceNeeds): Vault {
  const { clock, database, random, settings } = needs;
  const keys = dataKeys({ database, random, clock, keys: wrapKeys(settings, 'dek-wrap/v1') });
  const refusals = refusalRecorder(needs);
  const rate = settings.VAULT_SESSION_RATE;
  return {
    ...needs,
    keys,
    secrets: secretStore({ database, keys, random, clock }),
    catalog: catalog(needs),
    facts: identityFacts(needs),
    epochs: epochs(needs),
    memos: {
      services: memo<ServiceRecord | undefined>(clock),
      policies: memo<PolicySet>(clock),
      slots: memo<Slot>(clock),
    },
    lastSlots: new QuickLRU<string, string>({ maxSize: SESSIONS_MAX }),
    refusals,
    reuse: reuseCounter({ ...needs, alongside: () => refusals.flush() }),
    sessionRate: bucket(clock, { perSecond: rate, burst: rate * BURST_FACTOR }),
    forceRate: bucket(clock, { perSecond: FORCED_PER_MINUTE / MINUTE_S, burst: FORCED_PER_MINUTE }),
  };
}

/** An id for what a request makes: derived when the request can be repeated, else fresh. */
export const newId = (
  { ids }: Pick<Vault, 'ids'>,
  request: Request<unknown, unknown, unknown>,
  part: string,
): string =>
  request.idempotency === undefined ? ids.next() : uuidFrom('resource', request.commandId, part);
