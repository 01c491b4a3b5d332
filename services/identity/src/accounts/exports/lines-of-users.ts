/**
 * Users as JSON lines, with the fields of the list. PostgreSQL copies the rows as text, which is converted while it
 * arrives. If PostgreSQL wrote JSON itself, it would need four times as much processor time.
 */
import {
  type CopiedRow,
  type Database,
  JsonLines,
  type LineField,
  printedRow,
} from '@cardea/read-models';
import { PROFILE_FIELDS } from '../../http/profile-fields.ts';

export type LastUser = { readonly createdAt: string; readonly id: string };

/** Lines per page. Pages are several times as large if all names and picture addresses have their maximum length. */
const PAGE_LINES_MAX = 2_000;
const PAGE_BYTES = 1 << 20;

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
const STATUS = `CASE WHEN status = 'active' AND ${GIVEN.now} < locked_until THEN 'locked'
  ELSE status END`;

/** The fields of a line, in their order. `sql` reads a field that is not printed as its column. */
const FIELDS: readonly (LineField & { readonly sql?: string })[] = [
  { name: 'id', form: 'text' },
  { name: 'email', form: 'text', sql: "coalesce(email, '')" },
  { name: 'email_verified', form: 'boolean' },
  ...PROFILE_FIELDS.map((name) => ({ name, form: 'text' }) as const),
  { name: 'roles', form: 'texts' },
  { name: 'created_at', form: 'time', sql: utc('created_at') },
  { name: 'status', form: 'text', sql: STATUS },
  { name: 'vouched', form: 'boolean' },
  { name: 'mfa_enabled', form: 'boolean' },
  { name: 'last_login_at', form: 'time', sql: utc('last_login_at') },
  { name: 'identities', form: 'texts' },
  { name: 'updated_at', form: 'time', sql: utc('updated_at') },
];
const CREATED_AT = FIELDS.findIndex(({ name }) => name === 'created_at');

const PAGE = `COPY (SELECT ${FIELDS.map(({ name, sql = name }) => sql).join(', ')}
  FROM identity.users WHERE tenant_id = ${GIVEN.tenant} AND created_at <= ${GIVEN.createdAt}
    AND (created_at < ${GIVEN.createdAt} OR id > ${GIVEN.id})
  ORDER BY created_at DESC, id LIMIT ${PAGE_LINES_MAX}) TO STDOUT`;

export const emptyPage = (): JsonLines => new JsonLines(FIELDS, PAGE_BYTES);

/**
 * Fills the page with the next lines in the order of lists. Without `after` it starts with the users created at `now`.
 * Returns the position from which the page after it starts, or undefined if there is none.
 */
export async function fillPage(
  database: Database,
  page: JsonLines,
  of: {
    readonly tenantId: string;
    readonly now: Date;
    readonly after: LastUser | undefined;
  },
): Promise<LastUser | undefined> {
  const { tenantId, after } = of;
  const now = of.now.toISOString();
  const values = [tenantId, now, after?.createdAt ?? now, after?.id ?? ''];
  let last: LastUser | undefined;
  page.clear();
  await database.asTenantAtOnce(tenantId, [
    { name: 'export_of_users', text: GIVE, values },
    {
      text: PAGE,
      onCopied: (row) => {
        page.add(row);
        if (page.count === PAGE_LINES_MAX) last = positionOf(row);
      },
    },
  ]);
  return last;
}

function positionOf(row: CopiedRow): LastUser {
  const printed = printedRow(row);
  return { id: printed[0] ?? '', createdAt: `${printed[CREATED_AT]}Z` };
}
