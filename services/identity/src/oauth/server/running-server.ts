/** The authorization server as of the current signing key: another one takes its place when the key does. */
import type { SigningKey } from '@cardea/auth';
import type { DerivedKeys } from '@cardea/crypto';
import type { Ports } from '../../adapters/authorization-ports.ts';
import {
  type AuthorizationServer,
  authorizationServer,
} from '../../adapters/authorization-server.ts';

export type RunningServer = () => AuthorizationServer;

export function runningServer(
  ports: Omit<Ports, 'cookieKeys' | 'jwks'>,
  of: { readonly active: () => SigningKey; readonly cookieKeys: DerivedKeys },
): RunningServer {
  const cookieKeys = [of.cookieKeys.current, of.cookieKeys.previous]
    .filter((key) => key !== undefined)
    .map((key) => key.toString('base64url'));
  let made: { readonly kid: string; readonly server: AuthorizationServer } | undefined;
  return () => {
    const { kid, privateKey } = of.active();
    if (made?.kid === kid) return made.server;
    const jwk = { ...privateKey.export({ format: 'jwk' }), kid, alg: 'EdDSA', use: 'sig' };
    made = { kid, server: authorizationServer({ ...ports, cookieKeys, jwks: [jwk] }) };
    return made.server;
  };
}
