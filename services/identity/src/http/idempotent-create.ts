/** What a request that creates something, and may be repeated, has in common with its repeat. */
import type { Request } from '@cardea/http';
import { uuidFrom } from '@cardea/runtime';
import type { ServiceNeeds } from '@cardea/service';

type AnyRequest = Request<unknown, unknown, unknown>;

/** An id for what a request makes: derived when the request can be repeated, else fresh. */
export const newId = (
  { ids }: Pick<ServiceNeeds, 'ids'>,
  request: AnyRequest,
  part: string,
): string =>
  request.idempotency === undefined ? ids.next() : uuidFrom('resource', request.commandId, part);

/** What stands in an event to recognise a repeat by; keyed, for a body may hold a password. */
export const requestHash = async (
  { sealer }: Pick<ServiceNeeds, 'sealer'>,
  request: AnyRequest,
): Promise<string | null> =>
  request.idempotency === undefined
    ? null
    : sealer.indexHash(
        { tenantId: request.tenantId },
        'request body',
        request.idempotency.bodyHash,
      );

export const alreadyCreated = (id: string) =>
  ({ refused: 'already_created', details: { id } }) as const;

/** The answer to a request whose resource is already there; what it showed is shown once. */
export const repeatAnswer = (
  ownHash: string | null,
  made: { readonly id: string; readonly requestHash: string | null },
) =>
  ownHash !== null && made.requestHash === ownHash
    ? alreadyCreated(made.id)
    : ({ refused: 'idempotency_key_reused' } as const);
