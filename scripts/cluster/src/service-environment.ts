/**
 * The environment of each service's processes: settings that all share, and logins of the service. A cluster that
 * stores nothing gives each service separate secrets, too. One that was started before may have keys under the
 * deployment's secrets.
 */
import type { ServiceName } from '@cardea/contracts';
import { readSettings, type Settings } from '@cardea/runtime';
import { loginSettingsOf, ownEnvironment } from '@cardea/service';
import type { Servers } from './servers.ts';

type Environment = { readonly [name: string]: string };

/** Throws with the names of settings that are wrong. */
export function deploymentSettings(env: Environment): Settings {
  const read = readSettings(env);
  if ('ok' in read) return read.ok;
  throw new Error(`wrong settings: ${read.faults.map(({ name }) => name).join(', ')}`);
}

export function serviceEnvironment(
  service: ServiceName,
  of: {
    readonly shared: Environment;
    readonly servers: Servers;
    readonly ownSecrets: boolean;
  },
): Environment {
  const { shared, servers, ownSecrets } = of;
  const settings = deploymentSettings(shared);
  const { REDIS_URL, KAFKA_USERNAME, KAFKA_PASSWORD, ...own } = ownSecrets
    ? ownEnvironment(settings, service)
    : loginSettingsOf(settings, service);
  const { kafkaBrokersForUsers: brokers } = servers;
  return {
    ...shared,
    ...own,
    ...(servers.hasCacheUsers && REDIS_URL !== undefined ? { REDIS_URL } : {}),
    ...(brokers === undefined || KAFKA_USERNAME === undefined || KAFKA_PASSWORD === undefined
      ? {}
      : { KAFKA_BROKERS: brokers, KAFKA_USERNAME, KAFKA_PASSWORD }),
  };
}
