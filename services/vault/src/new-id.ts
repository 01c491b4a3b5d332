import type { Request } from '@cardea/http';
import { type Ids, uuidFrom } from '@cardea/runtime';

/** An id for what a request makes: derived when the request can be repeated, else fresh. */
export const newId = (
  { ids }: { readonly ids: Ids },
  request: Request<unknown, unknown, unknown>,
  part: string,
): string =>
  request.idempotency === undefined ? ids.next() : uuidFrom('resource', request.commandId, part);
