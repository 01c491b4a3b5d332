/**
 * How every request that creates something handles repeats. The id is derived from the `Idempotency-Key`, so a repeat
 * finds the stream that the first request created. A hash of the body in that stream distinguishes the same request
 * from another one with the same key.
 */
import type { Sealer } from '@cardea/crypto';
import type { Request } from '@cardea/http';
import { type Ids, uuidFrom } from '@cardea/runtime';

type AnyRequest = Pick<
  Request<unknown, unknown, unknown>,
  'idempotency' | 'commandId' | 'tenantId'
>;

/**
 * The ids of these kinds were derived in another form, which must not change: with another id, a repeat would create a
 * second object.
 */
const WITHOUT_PREFIX: readonly string[] = ['webhook', 'approval request'];

/** The id of an object to create: derived if the request can be repeated, otherwise random. */
export function newId(
  { ids }: { readonly ids: Ids },
  { idempotency, commandId }: AnyRequest,
  part: string,
): string {
  if (idempotency === undefined) return ids.next();
  return WITHOUT_PREFIX.includes(part)
    ? uuidFrom(part, commandId)
    : uuidFrom('resource', commandId, part);
}

/**
 * The hash in an event that recognises a repeat. It is keyed, because a body may contain a password. `labels` are part
 * of the hashed data, so they never change.
 */
export const requestHash = async (
  { sealer }: { readonly sealer: Pick<Sealer, 'indexHash'> },
  { idempotency, tenantId }: AnyRequest,
  labels: readonly string[] = ['request body'],
): Promise<string | null> =>
  idempotency === undefined
    ? null
    : sealer.indexHash({ tenantId }, ...labels, idempotency.bodyHash);

export const alreadyCreated = (id: string) =>
  ({ refused: 'already_created', details: { id } }) as const;

const KEY_REUSED = { refused: 'idempotency_key_reused' } as const;

/** Returns undefined for a repeat of the same request, which gets the current state of what the first one created. */
export const reusedKey = (ownHash: string | null, firstHash: string | null) =>
  ownHash === firstHash ? undefined : KEY_REUSED;

/** The response to a repeat if the first response showed a secret, which cannot be shown again. */
export const repeatAnswer = (
  ownHash: string | null,
  made: { readonly id: string; readonly requestHash: string | null },
) =>
  ownHash === null ? KEY_REUSED : (reusedKey(ownHash, made.requestHash) ?? alreadyCreated(made.id));
