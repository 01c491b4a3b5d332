/**
 * Logins of single services at PostgreSQL, Redis and Kafka: the settings of each, and how they are created. All are
 * derived from JWT_SECRET. The addresses are those of the deployment's settings.
 */
import { SERVICE_NAMES, type ServiceName } from '@cardea/contracts';
import { deriveFrom, serviceLogins, serviceSecrets } from '@cardea/crypto';
import { kafkaClient, makeKafkaUsers } from '@cardea/event-bus';
import { makeDatabaseLogins } from '@cardea/read-models';
import { type Logger, type Secret, type Settings, secret } from '@cardea/runtime';
import { pageKeysSetting } from '../keys/page-keys.ts';
import { internalSecretsOf } from '../peers/internal-bearer.ts';
import { cacheUserLines } from './cache-users.ts';

type Login = { readonly service: ServiceName; readonly name: string; readonly password: Secret };
type Roots = Pick<Settings, 'JWT_SECRET' | 'JWT_SECRET_PREVIOUS'>;

/** The logins under the current JWT_SECRET and, while it is changed, under the previous one. */
const allLogins = (settings: Roots): readonly Login[] =>
  SERVICE_NAMES.flatMap((service) =>
    serviceLogins(settings, service).map((login) => ({ ...login, service })),
  );

type Servers = Pick<Settings, 'DATABASE_URL' | 'REDIS_URL' | 'KAFKA_BROKERS'>;

/** Returned in the form of the settings. Servers that the deployment does not use are left out. */
export function loginSettingsOf(
  settings: Roots & Servers,
  service: ServiceName,
): { readonly [name: string]: string } {
  const [login] = serviceLogins(settings, service);
  const database = settings.DATABASE_URL.reveal();
  const cache = settings.REDIS_URL?.reveal();
  return {
    ...(database === '' ? {} : { DATABASE_URL: urlAs(database, login) }),
    ...(cache === undefined ? {} : { REDIS_URL: urlAs(cache, login) }),
    ...(settings.KAFKA_BROKERS === undefined
      ? {}
      : { KAFKA_USERNAME: login.name, KAFKA_PASSWORD: login.password.reveal() }),
  };
}

function urlAs(url: string, { name, password }: Pick<Login, 'name' | 'password'>): string {
  const named = new URL(url);
  named.username = name;
  named.password = password.reveal();
  return named.href;
}

/**
 * All secrets of one service's process, instead of the deployment's. EventStoreDB's access control is not used, so its
 * account is the same for all.
 */
export function ownEnvironment(
  settings: Settings,
  service: ServiceName,
): { readonly [name: string]: string } {
  const secrets = Object.entries(serviceSecrets(settings, service)).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value.reveal()] as const],
  );
  const events = settings.EVENTSTORE_URL?.reveal();
  return {
    ...Object.fromEntries(secrets),
    ...internalSecretsOf(deriveFrom(settings), service),
    ...pageKeysSetting(deriveFrom(settings)),
    ...loginSettingsOf(settings, service),
    ...(events === undefined ? {} : { EVENTSTORE_URL: events }),
  };
}

/**
 * Creates the logins in PostgreSQL, as the owner, and in Kafka if brokers are configured. Returns the names of those
 * that exist then.
 */
export async function makeLogins(
  settings: Settings,
  log: Logger,
): Promise<{ readonly postgres: readonly string[]; readonly kafka: readonly string[] }> {
  const logins = allLogins(settings);
  const names = logins.map(({ name }) => name);
  await makeDatabaseLogins(settings.MIGRATION_DATABASE_URL.reveal(), logins);
  if (settings.KAFKA_BROKERS === undefined) return { postgres: names, kafka: [] };
  const { KAFKA_BROKERS: brokers, KAFKA_TLS: tls } = settings;
  const { KAFKA_USERNAME: username, KAFKA_PASSWORD: password } = settings;
  await makeKafkaUsers(kafkaClient({ brokers, tls, username, password, log }), logins);
  return { postgres: names, kafka: names };
}

/** The ACL file of Redis. Undefined if REDIS_URL has no password, because then everybody would have all rights. */
export function cacheUsersFile(
  settings: Roots & Pick<Settings, 'REDIS_URL'>,
): readonly string[] | undefined {
  const { username, password } = new URL(settings.REDIS_URL?.reveal() ?? 'redis://');
  if (password === '') return undefined;
  const name = decodeURIComponent(username) || 'default';
  const administrator = { name, password: secret(decodeURIComponent(password)) };
  return cacheUserLines(administrator, allLogins(settings));
}
