/**
 * The secrets of a single service, derived from those of the deployment. A process that has them can read and write the
 * encrypted data of that service. It cannot derive the deployment's secrets or those of another service.
 */
import { type Secret, secret } from '@cardea/runtime';
import { type DeploymentSecrets, deriveKey } from '../derive.ts';

const infoOf = (service: string): string => `service/${service}/v1`;

/** Returned in the form of the settings of the same names. */
export function serviceSecrets(of: DeploymentSecrets, service: string): DeploymentSecrets {
  const jwt = (root: Secret): Secret =>
    secret(deriveKey(Buffer.from(root.reveal(), 'utf8'), infoOf(service)).toString('base64url'));
  const encryption = (root: Secret): Secret =>
    secret(deriveKey(Buffer.from(root.reveal(), 'hex'), infoOf(service)).toString('hex'));
  return {
    JWT_SECRET: jwt(of.JWT_SECRET),
    JWT_SECRET_PREVIOUS: of.JWT_SECRET_PREVIOUS && jwt(of.JWT_SECRET_PREVIOUS),
    ENCRYPTION_KEY: encryption(of.ENCRYPTION_KEY),
    ENCRYPTION_KEY_PREVIOUS: of.ENCRYPTION_KEY_PREVIOUS && encryption(of.ENCRYPTION_KEY_PREVIOUS),
  };
}
