/**
 * Users as JSON lines, with the fields of the list. PostgreSQL copies the rows as text, which is converted here while
 * it reads the next page. If PostgreSQL wrote JSON itself, it would need four times as much processor time.
 */
import {
  type CopiedRow,
  type Database,
  type PrintedRow,
  printedRow,
  printedTexts,
} from '@cardea/read-models';
import { computedOnce } from '@cardea/runtime';
import { PROFILE_FIELDS } from '../../http/profile-fields.ts';

export type LastUser = { readonly createdAt: string; readonly id: string };

type Printed = string | null | undefined;

/**
 * Rows per page. A page has about 800 KB of lines. Two pages wait for the client, and a third is read. Pages are
 * several times as large if all names and picture addresses have their maximum length.
 */
export const PAGE_LINES_MAX = 2_000;

/** COPY accepts no parameters, so the query reads these settings of its transaction. */
const GIVEN = {
  tenant: "(SELECT current_setting('export.tenant'))",
  now: "(SELECT current_setting('export.now')::timestamptz)",
  createdAt: "(SELECT current_setting('export.created_at')::timestamptz)",
  id: "(SELECT current_setting('export.id'))",
} as const;
const GIVE = `SELECT set_config('export.tenant', $1, true), set_config('export.now', $2, true),
  set_config('export.created_at', $3, true), set_config('export.id', $4, true)`;

/** Converts faster than `AT TIME ZONE 'UTC'`, which looks the zone up for each row. */
const utc = (column: string) => `${column} AT TIME ZONE interval '0'`;

/** The columns of {@link lineOf}, in its order. */
const COLUMNS = [
  ...['id', "coalesce(email, '')", 'email_verified', 'roles', utc('created_at')],
  `CASE WHEN status = 'active' AND ${GIVEN.now} < locked_until THEN 'locked' ELSE status END`,
  ...['vouched', 'mfa_enabled', utc('last_login_at'), 'identities', utc('updated_at')],
];
const CREATED_AT = COLUMNS.indexOf(utc('created_at'));

const PAGE = `COPY (SELECT ${[...COLUMNS, ...PROFILE_FIELDS].join(', ')} FROM identity.users
  WHERE tenant_id = ${GIVEN.tenant} AND created_at <= ${GIVEN.createdAt}
    AND (created_at < ${GIVEN.createdAt} OR id > ${GIVEN.id})
  ORDER BY created_at DESC, id LIMIT ${PAGE_LINES_MAX}) TO STDOUT`;

/** The next page in the order of lists. Without `after` it starts with the users created at `now`. */
export async function copiedUsersAfter(
  database: Database,
  of: {
    readonly tenantId: string;
    readonly now: Date;
    readonly after: LastUser | undefined;
  },
): Promise<readonly CopiedRow[]> {
  const { tenantId, after } = of;
  const now = of.now.toISOString();
  const values = [tenantId, now, after?.createdAt ?? now, after?.id ?? ''];
  const [, { rows }] = await database.asTenantAtOnce<[object, object]>(tenantId, [
    { name: 'export_of_users', text: GIVE, values },
    { text: PAGE },
  ]);
  return rows as unknown as readonly CopiedRow[];
}

/** The position from which the next page starts. */
export function lastOf(rows: readonly CopiedRow[]): LastUser | undefined {
  const last = rows.at(-1);
  if (last === undefined) return undefined;
  const row = printedRow(last);
  return { id: row[0] ?? '', createdAt: `${row[CREATED_AT]}Z` };
}

/** The number of lines that are encoded at once. Encoding all of a page as one text takes twice as long. */
const ENCODED_LINES = 8;

/** Returns one line per row, each with its line break, in UTF-8. */
export function linesOf(rows: readonly CopiedRow[]): Buffer {
  const encoded: Buffer[] = [];
  for (let at = 0; at < rows.length; at += ENCODED_LINES) {
    let lines = '';
    for (const row of rows.slice(at, at + ENCODED_LINES)) lines += lineOf(printedRow(row));
    encoded.push(Buffer.from(lines));
  }
  return Buffer.concat(encoded);
}

const PROFILE_NAMES = PROFILE_FIELDS.map((field) => `,"${field}":`);

/**
 * The fields besides the profile are written out, because a loop over a table of all fields takes 50 % longer. Ids and
 * states need no escapes.
 */
function lineOf(row: PrintedRow): string {
  const [id, email, isVerified, roles, createdAt, status] = row;
  const isVouched = row[6];
  const hasFactor = row[7];
  const lastLoginAt = row[8];
  const identities = row[9];
  const updatedAt = row[10];
  let profile = '';
  for (let at = 0; at < PROFILE_NAMES.length; at++) {
    profile += PROFILE_NAMES[at] + asText(row[COLUMNS.length + at]);
  }
  return `{"id":"${id}","email":${asText(email)},"email_verified":${asBoolean(isVerified)}${profile},"roles":${asTexts(roles)},"created_at":${asTime(createdAt)},"status":"${status}","vouched":${asBoolean(isVouched)},"mfa_enabled":${asBoolean(hasFactor)},"last_login_at":${asTime(lastLoginAt)},"identities":${asTexts(identities)},"updated_at":${asTime(updatedAt)}}\n`;
}

const asText = (printed: Printed): string =>
  typeof printed === 'string' ? JSON.stringify(printed) : 'null';
const asBoolean = (printed: Printed): string => (printed === 't' ? 'true' : 'false');

/** Many users have the same roles, and the same providers or none. */
const CACHED_TEXTS_MAX = 1_000;
const cachedTexts = computedOnce<string, string>(CACHED_TEXTS_MAX);
const asTexts = (printed: Printed): string => {
  const texts = printed ?? '{}';
  return cachedTexts(texts, () => JSON.stringify(printedTexts(texts)));
};

const FRACTION_AT = '2026-11-27 22:21:10.'.length;
/** Converts `2026-11-27 22:21:10.1` to the JSON form of all times: milliseconds, in UTC. */
function asTime(printed: Printed): string {
  if (typeof printed !== 'string') return 'null';
  const milliseconds = printed.slice(FRACTION_AT, FRACTION_AT + 3).padEnd(3, '0');
  return `"${printed.slice(0, 10)}T${printed.slice(11, 19)}.${milliseconds}Z"`;
}
