/**
 * The login of a service at servers that all services share. Name and password are derived from JWT_SECRET, so the
 * logins need not be stored, and every holder of that secret can derive them. The name ends with an identifier of the
 * secret. While JWT_SECRET is changed, logins of both secrets exist side by side.
 */
import { type Secret, secret } from '@cardea/runtime';
import { type DeploymentSecrets, deriveKey } from '../derive.ts';

export type ServiceLogin = {
  readonly service: string;
  readonly name: string;
  readonly password: Secret;
};

const ID_HEX = 8;

/** The login under the current secret, then the login under the previous one if there is one. */
export function serviceLogins(
  of: Pick<DeploymentSecrets, 'JWT_SECRET' | 'JWT_SECRET_PREVIOUS'>,
  service: string,
): readonly [ServiceLogin, ...ServiceLogin[]] {
  const previous = of.JWT_SECRET_PREVIOUS;
  const current = loginUnder(of.JWT_SECRET, service);
  return previous === undefined ? [current] : [current, loginUnder(previous, service)];
}

function loginUnder(root: Secret, service: string): ServiceLogin {
  const material = Buffer.from(root.reveal(), 'utf8');
  const id = deriveKey(material, 'login-id/v1').toString('hex').slice(0, ID_HEX);
  const password = deriveKey(material, `login/${service}/v1`).toString('base64url');
  return { service, name: `cardea_${service}_${id}`, password: secret(password) };
}
