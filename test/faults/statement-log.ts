/** What PostgreSQL was asked meanwhile, as its own log says: each statement, and who sent it. */
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLocalPostgres } from '@cardea/local-postgres';
import { endsOfTables, untilLevel } from '@cardea/testing';
import { Client } from 'pg';

export type LoggedStatement = {
  /** The connection's `application_name`. */
  readonly sender: string;
  /** Of a prepared statement. */
  readonly name: string;
  readonly text: string;
};
export type Logged = { readonly statements: readonly LoggedStatement[]; readonly seconds: number };

/** Its statements are left out. */
const OBSERVER = 'observer';
const SETTINGS = {
  log_statement: 'all',
  log_line_prefix: '%a|',
  // The values are nobody's business.
  log_parameter_max_length: '0',
};
const STATEMENT = /^([^|]*)\|LOG: {2}(?:statement|execute ([^:]*)): (.*)$/;
const MS_PER_SECOND = 1000;

export async function loggedPostgres() {
  const folder = mkdtempSync(join(tmpdir(), 'cardea-statements-'));
  chmodSync(folder, 0o711); // as root, the server's own user has to get through
  const server = await startLocalPostgres({
    dataFolder: join(folder, 'postgres'),
    password: randomBytes(18).toString('base64url'),
    temporary: true,
    settings: SETTINGS,
  });
  const log = join(server.folder, 'cardea-server.log');
  const url = server.connectionString();
  const client = new Client({ connectionString: url, application_name: OBSERVER });
  await client.connect();
  const level = () => untilLevel(client, endsOfTables(client));
  return {
    url,
    /** What `work` asked, and all that follows from it. */
    during: async (work: () => Promise<unknown>): Promise<Logged> => {
      await level();
      const [from, began] = [statSync(log).size, performance.now()];
      await work();
      await level();
      const seconds = (performance.now() - began) / MS_PER_SECOND;
      return { statements: statementsIn(readFileSync(log).subarray(from)), seconds };
    },
    stop: async () => {
      await client.end();
      server.stop({ remove: true });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The further lines of a statement begin with a tab. */
const statementsIn = (log: Buffer): readonly LoggedStatement[] =>
  log
    .toString('utf8')
    .replaceAll(/\s*\n\t\s*/g, ' ')
    .split('\n')
    .flatMap((line) => {
      const [whole, sender = '', name = '', text = ''] = STATEMENT.exec(line) ?? [];
      return whole === undefined || sender === OBSERVER ? [] : [{ sender, name, text }];
    });
