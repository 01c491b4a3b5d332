/**
 * What every request that creates something does about its repeats. The id follows from the
 * `Idempotency-Key`, so a repeat meets the stream that the first request made; a hash of the body in
 * that stream tells the same request from another one under the same key.
 */
import type { Sealer } from '@cardea/crypto';
import type { Request } from '@cardea/http';
import { type Ids, uuidFrom } from '@cardea/runtime';

type AnyRequest = Pick<
  Request<unknown, unknown, unknown>,
  'idempotency' | 'commandId' | 'tenantId'
>;

/** They have a form of their own, and keep it: under another id a repeat would create a second time. */
const WITHOUT_PREFIX: readonly string[] = ['webhook', 'approval request'];

/** An id for what a request makes: derived when the request can be repeated, else fresh. */
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
 * What stands in an event to recognise a repeat by; keyed, for a body may hold a password. `labels`
 * are part of what is hashed, so they never change.
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

/** Undefined for a repeat of the same request, which gets what the first one made as it stands. */
export const reusedKey = (ownHash: string | null, firstHash: string | null) =>
  ownHash === firstHash ? undefined : KEY_REUSED;

/** The answer to a repeat where the first answer showed a secret: nobody can show it again. */
export const repeatAnswer = (
  ownHash: string | null,
  made: { readonly id: string; readonly requestHash: string | null },
) =>
  ownHash === null ? KEY_REUSED : (reusedKey(ownHash, made.requestHash) ?? alreadyCreated(made.id));
