/** The logins of single services. Each may switch to the two roles of its service and has no other rights. */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import type { ServiceName } from '@cardea/contracts';
import { rolesOf } from '@cardea/postgres';
import type { Secret } from '@cardea/runtime';
import createKnex from 'knex';
import { letBecome } from './roles.ts';

export type DatabaseLogin = {
  readonly service: ServiceName;
  readonly name: string;
  readonly password: Secret;
};

/** Other processes that create logins of this deployment wait, because two must not alter one role at once. */
const LOGINS_LOCK = '5711340911752414';

/** Creates missing logins, and sets the passwords of all. Run the migrations first, because they create the roles. */
export async function makeDatabaseLogins(
  connectionString: string,
  logins: readonly DatabaseLogin[],
): Promise<void> {
  const knex = createKnex({
    client: 'pg',
    connection: { connectionString, application_name: 'cardea-logins' },
    pool: { min: 0, max: 1 },
    compileSqlOnError: false,
  });
  try {
    await knex.transaction(async (transaction) => {
      await transaction.raw(`SELECT pg_advisory_xact_lock(${LOGINS_LOCK})`);
      for (const { service, name, password } of logins) {
        await transaction.raw(loginStatement(name, password.reveal()));
        const { app, system } = rolesOf(service);
        await letBecome(transaction, name, [app, system]);
      }
    });
  } finally {
    await knex.destroy();
  }
}

/** Another database's run may create the login at the same time. A new role has no rights of its own. */
const loginStatement = (name: string, password: string): string => `
  DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${plain(name)}') THEN
      CREATE ROLE ${plain(name)};
    END IF;
  EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
  END $$;
  ALTER ROLE ${plain(name)} LOGIN NOINHERIT PASSWORD '${verifierOf(password)}'`;

/** We generate the names. Any other name is refused, since it becomes part of a statement. */
function plain(name: string): string {
  if (/^[a-z0-9_]{1,63}$/.test(name)) return name;
  throw new Error('A login has a plain name.');
}

const SCRAM_ROUNDS = 4096;
const SALT_BYTES = 16;
const KEY_BYTES = 32;

/**
 * The verifier that the server stores for a password (RFC 5803). It is sent instead of the password, so that
 * no statement log contains the password.
 */
function verifierOf(password: string): string {
  const salt = randomBytes(SALT_BYTES);
  const salted = pbkdf2Sync(password, salt, SCRAM_ROUNDS, KEY_BYTES, 'sha256');
  const keyed = (word: string) => createHmac('sha256', salted).update(word).digest();
  const stored = createHash('sha256').update(keyed('Client Key')).digest('base64');
  const server = keyed('Server Key').toString('base64');
  return `SCRAM-SHA-256$${SCRAM_ROUNDS}:${salt.toString('base64')}$${stored}:${server}`;
}
