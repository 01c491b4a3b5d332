/** A compose file with the variables to substitute, as rules receive it. */
import { type ComposeFile, type ComposeService, filledIn, type Variables } from './compose-file.ts';

export type ComposeSubject = {
  /** The file as it is written, with references to variables. */
  readonly file: ComposeFile;
  /** Variables that `.env` may contain. */
  readonly variables: Variables;
};

export const SERVERS = ['postgres', 'redis', 'kafka', 'eventstore'];
export const WATCHERS = ['prometheus', 'grafana'];

export type Named = readonly [name: string, service: ComposeService];
export const servicesOf = ({ file }: ComposeSubject): readonly Named[] =>
  Object.entries(file.services);
export const named = (subject: ComposeSubject, names: readonly string[]): readonly Named[] =>
  servicesOf(subject).filter(([name]) => names.includes(name));

/** The folder in which a container reads its secrets. The variable of a secret is called `<NAME>_FILE`. */
export const SECRETS_FOLDER = '/run/secrets/';

/** The contents that files of secrets may have. Files that are not listed are empty. */
export const SECRETS: Variables = {
  DATABASE_URL: 'postgres://cardea_service:0123456789@postgres:5432/cardea',
  MIGRATION_DATABASE_URL: 'postgres://cardea:0123456789@postgres:5432/cardea',
  REDIS_URL: 'redis://:0123456789@redis:6379',
  JWT_SECRET: 'b2'.repeat(20),
  ENCRYPTION_KEY: 'a1'.repeat(32),
  ADMIN_PASSWORD: 'a phrase of the operator',
  SMTP_URL: 'smtp://mailbox:1025',
};

/** The variables of a container with the values of `.env`, and with the contents of files instead of their paths. */
export function environmentOf(
  { environment = {} }: ComposeService,
  { variables }: ComposeSubject,
  secrets: Variables = SECRETS,
): { [name: string]: string } {
  return Object.fromEntries(
    Object.entries(filledIn(environment, variables)).map(([name, value]) =>
      String(value).startsWith(SECRETS_FOLDER)
        ? [name.replace(/_FILE$/, ''), secrets[value.slice(SECRETS_FOLDER.length)] ?? '']
        : [name, value],
    ),
  );
}
