/** The authorization server with the current signing keys. A new instance replaces it when the keys change. */
import type { DerivedKeys } from '@cardea/crypto';
import type { Ports } from '../../adapters/authorization-ports.ts';
import {
  type AuthorizationServer,
  authorizationServer,
} from '../../adapters/authorization-server.ts';
import type { KeyPair } from '../../adapters/key-algorithms.ts';

export type RunningServer = () => AuthorizationServer;

export function runningServer(
  ports: Omit<Ports, 'cookieKeys' | 'jwks'>,
  of: { readonly keys: () => readonly KeyPair[]; readonly cookieKeys: DerivedKeys },
): RunningServer {
  const cookieKeys = [of.cookieKeys.current, of.cookieKeys.previous]
    .filter((key) => key !== undefined)
    .map((key) => key.toString('base64url'));
  let made: { readonly kids: string; readonly server: AuthorizationServer } | undefined;
  return () => {
    const keys = of.keys();
    const kids = keys.map(({ kid }) => kid).join(' ');
    if (made?.kids === kids) return made.server;
    // The first key of each algorithm signs. The library accepts no public key alone, and it needs retired keys for
    // `id_token_hint`. An OKP key with `alg` would sign only under that algorithm name.
    const jwks = keys.map(({ kid, algorithm, privateKey }) => ({
      ...privateKey.export({ format: 'jwk' }),
      kid,
      use: 'sig',
      ...(algorithm === 'EdDSA' ? {} : { alg: algorithm }),
    }));
    made = { kids, server: authorizationServer({ ...ports, cookieKeys, jwks }) };
    return made.server;
  };
}
