/** Creates empty databases on the server of the test's own database. */
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';

export type EmptyDatabases = {
  make(): Promise<string>;
  drop(): Promise<void>;
};

export function emptyDatabases(server: () => string): EmptyDatabases {
  const names: string[] = [];
  const run = async (statement: string): Promise<void> => {
    const client = new Client({ connectionString: server() });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  };
  return {
    make: async () => {
      const name = `cardea_empty_${randomBytes(6).toString('hex')}`;
      await run(`CREATE DATABASE ${name}`);
      names.push(name);
      const url = new URL(server());
      url.pathname = `/${name}`;
      return url.href;
    },
    drop: async () => {
      for (const name of names) await run(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}
