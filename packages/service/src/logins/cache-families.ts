/**
 * All keys that the product writes to the shared cache: their writers, their lifetime, and what bounds their number, so
 * that callers cannot fill the cache. Rights of Redis users are derived from this list, and a test refuses a writer or
 * a key that is not in it (bounds.md, H2).
 */
import type { ServiceName } from '@cardea/contracts';
import { CACHE_PROBE } from '@cardea/runtime';

export type CacheFamily = {
  /** A Redis pattern, in which `*` stands for any text and `{service}` for the service that writes. */
  readonly pattern: string;
  readonly by: ServiceName | 'every';
  /**
   * The maximum lifetime. Undefined if the key never expires and is never evicted; its number may then not depend on
   * requests.
   */
  readonly lifeMs: number | undefined;
  /** The bound on the number of keys. */
  readonly number: string;
  /** The only files that write it. */
  readonly writers: readonly string[];
};

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** JWT_EXPIRY is at most a day, and a revocation outlives it by an hour. */
const REVOCATION_MS_MAX = 25 * HOUR_MS;

const AUTH = 'packages/auth/src';
const IDENTITY = 'services/identity/src';
const VAULT = 'services/vault/src';

export const CACHE_FAMILIES: readonly CacheFamily[] = [
  {
    pattern: 'rev:generation',
    by: 'identity',
    lifeMs: undefined,
    number: 'one',
    writers: [`${AUTH}/revocations/revocations-keeper.ts`],
  },
  {
    pattern: 'rev:*',
    by: 'identity',
    lifeMs: REVOCATION_MS_MAX,
    number:
      'one for each credential, user, session or tenant that ended while a token of it may live',
    writers: [`${AUTH}/revocations/revocations-keeper.ts`],
  },
  ...(['user', 'agent', 'agent_session'] as const).map((kind) => ({
    pattern: `${kind}:changed:*`,
    by: 'identity' as const,
    lifeMs: 2 * HOUR_MS,
    number: `one for each ${kind} that was changed or ended within two hours`,
    writers: [`${AUTH}/fact-changes.ts`],
  })),
  {
    pattern: 'vault:authority:*',
    by: 'identity',
    lifeMs: 10 * MINUTE_MS,
    number: 'one for each tenant in use',
    writers: [`${AUTH}/fact-changes.ts`],
  },
  {
    pattern: 'identity:changed:through',
    by: 'identity',
    lifeMs: 7 * DAY_MS,
    number: 'one',
    writers: [
      `${IDENTITY}/revocations/revocation-list.ts`,
      `${IDENTITY}/revocations/raise-changes-floor.ts`,
    ],
  },
  {
    pattern: 'op:*',
    by: 'identity',
    lifeMs: DAY_MS + 10 * MINUTE_MS,
    number:
      'artifacts of authorization requests, which are limited by address and live for minutes; those that wait for a mail are limited by bytes and time, per address and tenant; sessions of browsers and documents of clients live for hours',
    writers: [`${IDENTITY}/adapters/artifact-cache.ts`],
  },
  {
    pattern: 'social:*',
    by: 'identity',
    lifeMs: 10 * MINUTE_MS,
    number: 'one for each social sign-in that came back from its provider',
    writers: [`${IDENTITY}/authentication/social/callback/callback.route.ts`],
  },
  {
    pattern: 'social-person:*',
    by: 'identity',
    lifeMs: MINUTE_MS,
    number: 'one for each social sign-in that a provider vouched for',
    writers: [`${IDENTITY}/authentication/social/social-handover.ts`],
  },
  {
    pattern: 'webauthn:*',
    by: 'identity',
    lifeMs: 5 * MINUTE_MS,
    number: 'one for each challenge; those are limited by address',
    writers: [`${IDENTITY}/factors/passkeys.ts`],
  },
  {
    pattern: 'vault:epoch:*',
    by: 'vault',
    lifeMs: 10 * MINUTE_MS,
    number: 'one for each tenant in use',
    writers: [`${VAULT}/epochs.ts`],
  },
  {
    pattern: 'vault:slots:*',
    by: 'vault',
    lifeMs: 5 * MINUTE_MS,
    number: 'one for each agent session in use, however many services and fields it requests',
    writers: [`${VAULT}/grants/vend/vend.ts`],
  },
  {
    pattern: 'vault:force:*',
    by: 'vault',
    lifeMs: MINUTE_MS,
    number: 'as many for each agent session as VAULT_SESSION_RATE allows in a minute',
    writers: [`${VAULT}/grants/vend/vend.ts`],
  },
  {
    pattern: 'approval:*',
    by: 'approval',
    lifeMs: 10 * MINUTE_MS,
    number: 'one for each pending approval that is polled',
    writers: ['packages/runtime/src/cache/limit-counters.ts'],
  },
  {
    pattern: 'audit-export:*',
    by: 'audit',
    lifeMs: HOUR_MS,
    number: 'two for each tenant',
    writers: ['packages/service/src/limits/export-limit.ts'],
  },
  {
    pattern: 'users-export:*',
    by: 'identity',
    lifeMs: HOUR_MS,
    number: 'two for each tenant',
    writers: ['packages/service/src/limits/export-limit.ts'],
  },
  {
    pattern: 'limit:*',
    by: 'every',
    lifeMs: 2 * DAY_MS,
    number:
      'one for each limit and each address, account, key or tenant that used it within its window; refused calls make none',
    writers: ['packages/runtime/src/cache/limit-counters.ts'],
  },
  {
    pattern: 'dpop:*',
    by: 'every',
    lifeMs: 2 * MINUTE_MS,
    number:
      'one for each request that proves the key of its token; only requests with a valid token that is bound to a key make one',
    writers: [`${AUTH}/tokens/dpop-proof.ts`],
  },
  {
    pattern: 'relay:{service}',
    by: 'every',
    lifeMs: undefined,
    number: 'one for each log',
    writers: ['packages/event-bus/src/relay/position-note.ts'],
  },
  {
    pattern: CACHE_PROBE,
    by: 'every',
    lifeMs: 10_000,
    number: 'one',
    writers: ['packages/runtime/src/cache/redis-cache.ts'],
  },
];

/** Patterns of the keys that a service writes. `limit:*` stands for its own limits. */
export const patternsOf = (service: ServiceName): readonly string[] =>
  CACHE_FAMILIES.filter(({ by }) => by === service || by === 'every').map(({ pattern }) =>
    pattern === 'limit:*' ? `limit:${service}:*` : pattern.replace('{service}', service),
  );
