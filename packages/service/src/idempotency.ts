/**
 * The n-th use of an `Idempotency-Key`: within a day it is the same command, after that a new one. The use is stored
 * before the command runs, so a request that was interrupted continues under the same ids.
 */
import type { Principal } from '@cardea/auth';
import type { Sealer } from '@cardea/crypto';
import { accept, type Decision, type Stream, type Streams } from '@cardea/event-store';
import { type Identify, networkOf, type Request } from '@cardea/http';
import { failpoint, type Ids, uuidFrom } from '@cardea/runtime';
import type { ServiceDependencies } from './service.ts';

const LAPSES_AFTER_MS = 24 * 3_600_000;
/** The tenant of uses without a credential, because the tenant that such a request names may not exist. */
const DEPLOYMENT = 'deployment';

export type IdempotencyKeyUsed = {
  readonly type: 'IdempotencyKeyUsed';
  readonly data: { readonly n: number; readonly at: string };
};
/** `n` is 0 before the first use. */
export type IdempotencyKeyState = { readonly n: number; readonly at: string | null };

export const idempotencyKeys: Stream<IdempotencyKeyState, IdempotencyKeyUsed> = {
  noun: 'idempotency',
  initial: { n: 0, at: null },
  stateCarrying: true,
  evolve: (_before, { data }) => data,
};

export function useIdempotencyKey(
  now: Date,
  { n, at }: IdempotencyKeyState,
): Decision<IdempotencyKeyUsed, never> {
  const lasts = at !== null && now.getTime() - new Date(at).getTime() < LAPSES_AFTER_MS;
  return lasts
    ? accept()
    : accept({ type: 'IdempotencyKeyUsed', data: { n: n + 1, at: now.toISOString() } });
}

type Dependencies = {
  readonly streams: Streams;
  readonly sealer: Pick<Sealer, 'indexHash'>;
  readonly ids: Ids;
  readonly systemCommand: ServiceDependencies['systemCommand'];
};

export function identifying({ streams, sealer, ids, systemCommand }: Dependencies): Identify {
  return async (request) => {
    if (request.idempotency === undefined) return request;
    const { tenantId, use, parts } = await keyOf(sealer, request, request.idempotency);
    const command = systemCommand(tenantId, use, ids.next());
    const { state } = await streams.decideOn(idempotencyKeys, use, command, {
      isNew: true,
      decide: (key) => useIdempotencyKey(command.now, key),
    });
    await failpoint('idempotency.after_use');
    return { ...request, commandId: commandIdOf(parts, state.n) };
  };
}

/** The first use has the id that keys had before uses were counted. */
const commandIdOf = (parts: readonly string[], n: number): string =>
  uuidFrom('idempotency', ...parts, ...(n > 1 ? [String(n)] : []));

type AnyRequest = Request<unknown, unknown, unknown>;

/** The owner of the key, as the stream's name and as parts of the command's id. */
async function keyOf(
  sealer: Dependencies['sealer'],
  request: AnyRequest,
  { key, bodyHash }: NonNullable<AnyRequest['idempotency']>,
) {
  const { tenantId, principal, operation, ip } = request;
  if (principal === undefined) {
    // For an anonymous caller the same key from another client is another command. The hash is keyed, because ids are
    // public and a body may contain a password.
    const own = [tenantId, operation, networkOf(ip), bodyHash, key];
    const use = await sealer.indexHash(DEPLOYMENT, 'idempotency key of anyone', ...own);
    return { tenantId: DEPLOYMENT, use, parts: ['anyone', use] };
  }
  const parts = [tenantId, callerOf(principal), operation, key];
  return {
    tenantId,
    use: await sealer.indexHash({ tenantId }, 'idempotency key', ...parts),
    parts,
  };
}

const callerOf = ({ kind, id }: Principal): string => `${kind} ${id}`;
