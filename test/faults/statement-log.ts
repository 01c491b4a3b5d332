/**
 * Records the statements that PostgreSQL receives during some work, as its own log reports them: each statement, and
 * who sent it.
 */
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
  /** The name of a prepared statement. */
  readonly name: string;
  readonly text: string;
  /** The number of reads or appends that share the statement. How many share one is random. */
  readonly shares: number;
};
export type Logged = { readonly statements: readonly LoggedStatement[]; readonly seconds: number };

/** The statements of this sender are left out. */
const OBSERVER = 'observer';
const SETTINGS = {
  log_statement: 'all',
  log_line_prefix: '%a|',
  log_error_verbosity: 'default', // The parameters are a detail of the statement.
  log_parameter_max_length: '200',
};
const STATEMENT = /^([^|]*)\|LOG: {2}(?:statement|execute ([^:]*)): (.*)$/;
/** The parameter that has one element for each read, or each append, of a statement. */
const SHARED_BY: { readonly [name: string]: RegExp } = {
  'read-streams': /\$1 = '\{([^}]*)\}'/,
  'append-batch': /\$4 = '\{([^}]*)\}'/,
};
const MS_PER_SECOND = 1000;

export async function loggedPostgres() {
  const folder = mkdtempSync(join(tmpdir(), 'cardea-statements-'));
  chmodSync(folder, 0o711); // If we are root, the server's own user needs access.
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
    /** Returns the statements of `work`, and all that follow from it. */
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

/** The further lines of a statement begin with a tab; the line after it has its parameters. */
const statementsIn = (log: Buffer): readonly LoggedStatement[] =>
  log
    .toString('utf8')
    .replaceAll(/\s*\n\t\s*/g, ' ')
    .split('\n')
    .flatMap((line, at, lines) => {
      const [whole, sender = '', name = '', text = ''] = STATEMENT.exec(line) ?? [];
      if (whole === undefined || sender === OBSERVER) return [];
      return [{ sender, name, text, shares: sharesOf(name, lines[at + 1] ?? '') }];
    });

function sharesOf(name: string, detail: string): number {
  const sharedBy = SHARED_BY[name];
  if (sharedBy === undefined) return 1;
  const elements = sharedBy.exec(detail)?.[1];
  if (elements === undefined) throw new Error(`no parameters of ${name}: ${detail.slice(0, 100)}`);
  return elements.split(',').length;
}
