/**
 * Proofs of possession (DPoP, RFC 9449) of those who ask for tokens. A proof is read before anything else is looked
 * at, and used up once its client has proven itself, so that strangers leave nothing in the cache.
 */
import type { ReadProof } from '@cardea/auth';
import { errors } from 'oidc-provider';
import type { Ctx, Message, Ports } from './authorization-ports.ts';
import { stored } from './cache-errors.ts';

const HEADER = 'dpop';
/** Where a proof says anything; a browser that is sent to authorize has no headers of its client. */
const PROVEN_PATHS: readonly string[] = ['/oauth2/token', '/oauth2/par'];

const proofs = new WeakMap<Message, ReadProof>();

/** False for a request with a proof that is none; its answer is then complete. */
export async function readProof(
  ports: Pick<Ports, 'readProof' | 'refused'>,
  ctx: Ctx,
): Promise<boolean> {
  const { req, path, method } = ctx;
  const { [HEADER]: text } = req.headers;
  if (text === undefined) return true;
  if (!PROVEN_PATHS.includes(path)) {
    delete req.headers[HEADER];
    return true;
  }
  const proof =
    typeof text === 'string' ? await ports.readProof(text, { method, path }) : undefined;
  if (proof !== undefined) {
    proofs.set(req, proof);
    return true;
  }
  ports.refused(req, WRONG);
  ctx.status = 400;
  ctx.set('Cache-Control', 'no-store');
  ctx.body = WRONG;
  return false;
}

/** The thumbprint of the key that this request was proven to have. */
export const provenKey = (message: Message): string | undefined => proofs.get(message)?.thumbprint;

/** Throws where the proof of this request was used before. */
export async function useProof(message: Message | undefined): Promise<void> {
  const proof = message === undefined ? undefined : proofs.get(message);
  if (proof === undefined || (await stored(proof.use()))) return;
  throw new errors.InvalidDpopProof('the proof was used before');
}

const WRONG = {
  error: 'invalid_dpop_proof',
  error_description: 'the proof is not of this request, of now, and signed by its key',
};
