/** Creates and prints logins of single services at the servers that all services share. */
import { CredentialsRefused } from '@cardea/event-bus';
import { cacheUsersFile, makeLogins } from '@cardea/service';
import { type Command, done, textOf } from '../command.ts';
import { settingsOf } from '../deployment.ts';
import { NotDone, WrongConfiguration } from '../failures.ts';

export const loginsCreate: Command = {
  name: 'logins create',
  summary:
    'Makes a login for each service in PostgreSQL and Kafka, with its own rights and no others; may be run again.',
  example: 'logins create',
  run: async ({ open }) => {
    const { settings, log } = await open();
    try {
      const made = await makeLogins(settings, log);
      const lines = Object.entries(made).flatMap(([server, names]) =>
        names.map((name) => `${server}: ${name}`),
      );
      return done(lines, { logins: made });
    } catch (error) {
      if (error instanceof CredentialsRefused) throw new NotDone(error.message);
      throw error;
    }
  },
};

export const loginsRedis: Command = {
  name: 'logins redis',
  summary:
    'Prints the ACL file of Redis 7 with a user for each service, passwords as hashes; the server reads it by --aclfile.',
  example: 'logins redis',
  run: async (call) => {
    const { settings } = settingsOf({ env: call.env, data: textOf(call, 'data') });
    const lines = cacheUsersFile(settings);
    if (lines === undefined) {
      throw new WrongConfiguration(
        'REDIS_URL has no password: whoever reached the server would have the rights of its first user.',
      );
    }
    return done(lines, { lines });
  },
};
