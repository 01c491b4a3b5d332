/**
 * `/health*` on the API port: whether the process responds, and whether its database and cache do (`docs/contract.md`
 * 1). They are endpoint values like all others, so that gateway and document include them.
 */
import { named } from '@cardea/contracts';
import type { Clock } from '@cardea/runtime';
import Type from 'typebox';
import { type Endpoint, endpoint } from '../contract/endpoint.ts';

export type HealthDependencies = {
  readonly version: string;
  readonly clock: Clock;
  /** Resolves when `SELECT 1` has returned. */
  readonly database: { ping(): Promise<void> };
  readonly cache: { readonly mode: 'redis' | 'in_process'; ping(): Promise<void> };
};

const PING_WAIT_MS = 1_000;

const common = {
  tag: 'Health',
  tenant: 'none',
  who: 'anyone',
  refusals: {},
} as const;

const Dependency = named(
  'DependencyHealth',
  Type.Object({
    status: Type.Enum(['ok', 'unavailable']),
    latency_ms: Type.Number({ minimum: 0 }),
    version: Type.String(),
    mode: Type.Optional(Type.Literal('in_process')),
  }),
);

export function healthEndpoints({
  version,
  clock,
  database,
  cache,
}: HealthDependencies): readonly Endpoint[] {
  const seen = async (ping: () => Promise<void>, more: { mode?: 'in_process' } = {}) => {
    const startMs = clock.monotonicMs();
    const answered = await answersInTime(ping, clock);
    const latency = Math.round((clock.monotonicMs() - startMs) * 100) / 100;
    const body = {
      status: answered ? ('ok' as const) : ('unavailable' as const),
      latency_ms: latency,
      version,
    };
    const ok = { ...body, ...more };
    return answered ? { ok } : { ok, status: 503, headers: { 'Retry-After': '1' } };
  };
  return [
    endpoint(
      {
        ...common,
        name: 'health',
        summary: 'Says that the process answers; looks at nothing else.',
        description:
          'Answers while the process takes requests. It asks neither database nor cache, so it says nothing about them.',
        method: 'get',
        path: '/health',
        ok: Type.Object({ status: Type.Literal('ok'), version: Type.String() }),
      },
      async () => ({ ok: { status: 'ok' as const, version } }),
    ),
    endpoint(
      {
        ...common,
        name: 'health_db',
        summary: 'Says whether the database answers.',
        description:
          'Sends one query to the database and tells how long the answer took. It is 503 with `status` `unavailable` if none came within a second.',
        method: 'get',
        path: '/health/db',
        ok: Dependency,
        response: { others: { 503: Dependency } },
      },
      () => seen(() => database.ping()),
    ),
    endpoint(
      {
        ...common,
        name: 'health_cache',
        summary: 'Says whether the cache answers.',
        description:
          'Asks the shared cache once and tells how long the answer took. It is 503 with `status` `unavailable` if none came within a second.',
        method: 'get',
        path: '/health/cache',
        ok: Dependency,
        response: { others: { 503: Dependency } },
      },
      () => seen(() => cache.ping(), cache.mode === 'in_process' ? { mode: 'in_process' } : {}),
    ),
  ];
}

/** Returns false when it threw or took longer than a second. A later result is ignored. */
export async function answersInTime(ping: () => Promise<void>, clock: Clock): Promise<boolean> {
  const answered = new AbortController();
  const pinged = Promise.resolve()
    .then(ping)
    .then(
      () => true,
      () => false,
    );
  const late = clock.sleep(PING_WAIT_MS, answered.signal).then(() => false);
  try {
    return await Promise.race([pinged, late]);
  } finally {
    answered.abort();
  }
}
