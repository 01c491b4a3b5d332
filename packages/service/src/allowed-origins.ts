/**
 * The origins whose pages may call: those of the deployment's own setting, and those that tenants allow. The process
 * caches the whole list, so that neither a preflight nor a response costs a lookup.
 */
import type { AllowedOrigins } from '@cardea/http';
import { type Cache, type Clock, type Logger, wakeSignal } from '@cardea/runtime';
import type { Loop } from './service.ts';

/** The channel on which identity announces that an application's origins have changed. */
export const ORIGINS_CHANGED = 'origins:changed';

/** The interval of reads, in case notices were missed. */
const READ_EVERY_MS = 60_000;
/** The longest pause of the loop, so that it ticks. */
const REST_MS = 10_000;
/** The pause before a list that could not be read is read again. */
const RETRY_MS = 1_000;
/**
 * Failures of the first minute are not logged, because a restarting service is unavailable for a moment and logs that
 * itself.
 */
const FAILURES_UNTOLD = 60;

type TenantOrigins = readonly { readonly origin: string; readonly tenants: readonly string[] }[];

export type AllowedOriginsDependencies = {
  readonly own: readonly string[];
  readonly read: () => Promise<{ readonly origins: TenantOrigins }>;
  readonly cache: Pick<Cache, 'subscribe'>;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
};

export function allowedOrigins(needs: AllowedOriginsDependencies): AllowedOrigins & {
  readonly loop: Loop;
} {
  const own = new Set(needs.own);
  let tenants: ReadonlyMap<string, ReadonlySet<string>> = new Map();
  const read = async (): Promise<void> => {
    const { origins } = await needs.read();
    tenants = new Map(origins.map((each) => [each.origin, new Set(each.tenants)]));
  };
  return {
    ofAny: (origin) => own.has(origin) || tenants.has(origin),
    ofTenant: (origin, tenantId) => own.has(origin) || tenants.get(origin)?.has(tenantId) === true,
    loop: { name: 'origins', run: (signal, tick) => keepRead(needs, read, { signal, tick }) },
  };
}

async function keepRead(
  { cache, clock, log }: AllowedOriginsDependencies,
  read: () => Promise<void>,
  { signal, tick }: { readonly signal: AbortSignal; readonly tick: () => void },
): Promise<void> {
  const changed = wakeSignal(clock);
  const { wake } = changed;
  let isDue = true;
  const due = () => {
    isDue = true;
    wake();
  };
  const leave = await cache.subscribe(ORIGINS_CHANGED, due, { lost: () => {}, healed: due });
  let readMs = 0;
  let failures = 0;
  try {
    while (!signal.aborted) {
      tick();
      if (isDue || clock.monotonicMs() - readMs >= READ_EVERY_MS) {
        isDue = false;
        readMs = clock.monotonicMs();
        failures = await read().then(
          () => 0,
          (error: unknown) => {
            if (failures === FAILURES_UNTOLD) {
              log.warn({ err: error }, 'the origins of tenants are not known');
            }
            return failures + 1;
          },
        );
      }
      await changed.rest(failures > 0 ? RETRY_MS : REST_MS, signal);
      if (failures > 0) isDue = true;
    }
  } finally {
    await leave();
  }
}
