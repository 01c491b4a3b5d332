/** Gives each test file a database of its own: a copy of the run's migrated template. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, inject } from 'vitest';
import { copyTemplate, dropDatabase, type PostgresOfRun } from './test-postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Set by the global setup of the projects that use real servers. */
    postgres: PostgresOfRun;
  }
}

export type TestDatabase = {
  /** Connects as the owner, who may do everything. It is set when hooks and tests run, not at load. */
  readonly url: string;
};

const CREATE_WAIT_MS = 120_000;

/**
 * Call it once, at the top of a file or of a `describe`. The database exists from `beforeAll` to `afterAll`. Without
 * PostgreSQL the tests beside it are skipped by name.
 */
export function testDatabase(): TestDatabase {
  const server = inject('postgres');
  const name = `cardea_test_${randomBytes(6).toString('hex')}`;
  let url: string | undefined;
  beforeAll(async () => {
    if ('url' in server) url = await copyTemplate(server, name);
  }, CREATE_WAIT_MS);
  beforeEach((context) => {
    if ('missing' in server) context.skip(server.missing);
  });
  afterAll(async () => {
    if ('url' in server) await dropDatabase(server.url, name);
  });
  return {
    get url() {
      if (url === undefined) throw new Error('The test database exists from beforeAll on.');
      return url;
    },
  };
}
