/** Reads an `id_token_hint`: an id_token that Cardea issued. Expired tokens and retired keys are accepted. */
import type { KeyPair } from '../../adapters/key-algorithms.ts';
import { readClientToken } from '../../adapters/read-client-token.ts';
import type { LogoutHint } from './logout-request.ts';

export async function readLogoutHint(
  { keys, issuer }: { readonly keys: readonly KeyPair[]; readonly issuer: string },
  text: string | undefined,
): Promise<LogoutHint> {
  if (text === undefined) return { status: 'none' };
  const { iss, aud, sub, tid } = (await readClientToken(keys, 'JWT', text)) ?? {};
  const isOurs = iss === issuer && typeof aud === 'string';
  return isOurs && typeof sub === 'string' && typeof tid === 'string'
    ? { status: 'verified', clientId: aud, tenantId: tid, userId: sub }
    : { status: 'unverified' };
}
