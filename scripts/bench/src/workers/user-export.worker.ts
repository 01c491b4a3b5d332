/** The users of a tenant as lines of JSON from the endpoint, or the same rows by COPY over one connection. */
import { readFileSync } from 'node:fs';
import { Client } from 'pg';
import { Pool } from 'undici';
import { measurePasses, serveMeasurements } from '../harness.ts';

export type UserExport = {
  readonly origin: string;
  readonly database: string;
  readonly tenant: string;
  readonly token: string;
  readonly people: number;
};

const EXPORT = '/api/v1/admin/users/export';
const NEWLINE = 10;
/** The fields of a line of the export. */
const COLUMNS = `id, email, email_verified, display_name, avatar_url, locale, preferred_username, roles,
  created_at, status, locked_until, vouched, mfa_enabled, last_login_at, identities, updated_at`;

const [path = '', how = 'export'] = process.argv.slice(2);
const of = JSON.parse(readFileSync(path, 'utf8')) as UserExport;

/** Counts the lines before the last one, which has to contain the same number. */
async function exported(pool: Pool): Promise<number> {
  const headers = { authorization: `Bearer ${of.token}`, 'x-service-tenant': of.tenant };
  const { statusCode, body } = await pool.request({ path: EXPORT, method: 'GET', headers });
  let lines = 0;
  let end = Buffer.alloc(0);
  for await (const chunk of body as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1))
      lines += 1;
    const last = chunk.subarray(-LAST_LINE_BYTES_MAX);
    end = Buffer.concat([end, last]).subarray(-LAST_LINE_BYTES_MAX);
  }
  if (statusCode !== 200) throw new Error(`the export answered ${statusCode}: ${end}`);
  const people = lines - 1;
  return String(end).endsWith(`${JSON.stringify({ end: true, count: people })}\n`) ? people : -1;
}

const LAST_LINE_BYTES_MAX = 64;

async function passOf(): Promise<() => Promise<number>> {
  if (how === 'export') {
    const pool = new Pool(of.origin, { connections: 1 });
    return () => exported(pool);
  }
  const client = new Client({ connectionString: of.database });
  await client.connect();
  const rows = `SELECT ${COLUMNS} FROM identity.users WHERE tenant_id = '${of.tenant}'`;
  return async () => (await client.query(`COPY (${rows}) TO STDOUT`)).rowCount ?? 0;
}

const pass = await passOf();
serveMeasurements((seconds) => measurePasses(seconds, of.people, pass));
