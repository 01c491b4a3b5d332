/**
 * Users as JSON lines, with the fields of the list. PostgreSQL's text output is converted here. For 100,000 users
 * PostgreSQL needs 0.2 s of processor time, as much as COPY; if it wrote JSON itself, it would need 0.8 s. The
 * conversion takes 0.4 s while PostgreSQL reads the next rows.
 */
import type { Database, PrintedRow } from '@cardea/read-models';
import { PROFILE_FIELDS } from '../../http/profile-fields.ts';

export type LastUser = { readonly createdAt: string; readonly id: string };

type Printed = string | null | undefined;

const utc = (column: string) => `${column} AT TIME ZONE 'UTC'`;

/** Columns in the order of the list's fields. `$2` is the current time. */
const COLUMNS = [
  ...['id', "coalesce(email, '')", 'email_verified'],
  ...PROFILE_FIELDS,
  ...['to_json(roles)', utc('created_at')],
  "CASE WHEN status = 'active' AND $2 < locked_until THEN 'locked' ELSE status END",
  ...['vouched', 'mfa_enabled', utc('last_login_at'), 'to_json(identities)', utc('updated_at')],
];
const ID = COLUMNS.indexOf('id');
const CREATED_AT = COLUMNS.indexOf(utc('created_at'));

const PAGE = `SELECT ${COLUMNS.join(', ')} FROM identity.users
  WHERE tenant_id = $1 AND created_at <= $3 AND (created_at < $3 OR id > $4)
  ORDER BY created_at DESC, id LIMIT $5`;

/** The next rows in the order of lists. Without `after` they start with the users created at `now`. */
export async function printedUsersAfter(
  database: Database,
  of: {
    readonly tenantId: string;
    readonly now: Date;
    readonly after: LastUser | undefined;
    readonly limit: number;
  },
): Promise<readonly PrintedRow[]> {
  const { tenantId, now, after, limit } = of;
  const values = [tenantId, now, after?.createdAt ?? now, after?.id ?? '', limit];
  const [{ rows }] = await database.asTenantAtOnce<[Record<string, unknown>]>(tenantId, [
    { text: PAGE, values, asText: true },
  ]);
  return rows as unknown as readonly PrintedRow[];
}

/** The position from which the next page starts. */
export const lastOf = (rows: readonly PrintedRow[]): LastUser | undefined => {
  const row = rows.at(-1);
  return row && { id: row[ID] ?? '', createdAt: `${row[CREATED_AT]}Z` };
};

/** Returns one line per row, each with its line break. */
export function linesOf(rows: readonly PrintedRow[]): string {
  let lines = '';
  for (const row of rows) lines += lineOf(row);
  return lines;
}

const PROFILE_AT = COLUMNS.indexOf(PROFILE_FIELDS[0] ?? '');
const ROLES_AT = PROFILE_AT + PROFILE_FIELDS.length;
const PROFILE_NAMES = PROFILE_FIELDS.map((field) => `,"${field}":`);

/**
 * The fields besides the profile are written out, because a loop over a table of all fields takes 50 % longer. Ids and
 * states need no escapes.
 */
function lineOf(row: PrintedRow): string {
  const [id, email, isVerified] = row;
  const [roles, createdAt, status, isVouched, hasFactor, lastLoginAt, identities, updatedAt] =
    row.slice(ROLES_AT);
  let profile = '';
  for (let at = 0; at < PROFILE_NAMES.length; at++) {
    profile += PROFILE_NAMES[at] + asText(row[PROFILE_AT + at]);
  }
  return `{"id":"${id}","email":${asText(email)},"email_verified":${asBoolean(isVerified)}${profile},"roles":${roles},"created_at":${asTime(createdAt)},"status":"${status}","vouched":${asBoolean(isVouched)},"mfa_enabled":${asBoolean(hasFactor)},"last_login_at":${asTime(lastLoginAt)},"identities":${identities},"updated_at":${asTime(updatedAt)}}\n`;
}

const asText = (printed: Printed): string =>
  typeof printed === 'string' ? JSON.stringify(printed) : 'null';
const asBoolean = (printed: Printed): string => (printed === 't' ? 'true' : 'false');

const FRACTION_AT = '2026-11-27 22:21:10.'.length;
/** Converts `2026-11-27 22:21:10.1` to the JSON form of all times: milliseconds, in UTC. */
function asTime(printed: Printed): string {
  if (typeof printed !== 'string') return 'null';
  const milliseconds = printed.slice(FRACTION_AT, FRACTION_AT + 3).padEnd(3, '0');
  return `"${printed.slice(0, 10)}T${printed.slice(11, 19)}.${milliseconds}Z"`;
}
