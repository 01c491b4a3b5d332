/**
 * Proofs of possession (DPoP, RFC 9449) of token requests. A proof is verified first and marked as used after its
 * client has authenticated. So unauthenticated callers store nothing in the cache.
 */
import type { ReadProof } from '@cardea/auth';
import { errors } from 'oidc-provider';
import type { Ctx, Message, Ports } from './authorization-ports.ts';
import { stored } from './cache-errors.ts';

const HEADER = 'dpop';
/** Paths at which a proof is meaningful. At the authorization endpoint the browser sends no headers of the client. */
const PROVEN_PATHS: readonly string[] = ['/oauth2/token', '/oauth2/par'];

const proofs = new WeakMap<Message, ReadProof>();

/** Returns false for an invalid proof. The response is then complete. */
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

/** The thumbprint of the key whose possession this request proved. */
export const provenKey = (message: Message): string | undefined => proofs.get(message)?.thumbprint;

/** Throws if the proof of this request was used before. */
export async function useProof(message: Message | undefined): Promise<void> {
  const proof = message === undefined ? undefined : proofs.get(message);
  if (proof === undefined || (await stored(proof.use()))) return;
  throw new errors.InvalidDpopProof('the proof was used before');
}

const WRONG = {
  error: 'invalid_dpop_proof',
  error_description: 'the proof is not of this request, of now, and signed by its key',
};
