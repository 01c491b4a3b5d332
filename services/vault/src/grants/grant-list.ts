/** The list of grants for administrators and for the agent itself. */
import type { Principal } from '@cardea/auth';
import { type Cursor, named } from '@cardea/contracts';
import {
  type Database,
  type PageOfRows,
  type Positions,
  pageOfTenant,
  type Queryable,
  type RowOf,
  selection,
  textOf,
} from '@cardea/read-models';
import Type, { type Static } from 'typebox';
import { grantRows } from './grants.projection.ts';

const nullable = <S extends Type.TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
const instant = Type.String({ format: 'date-time' });

export const GRANT_STATUSES = ['active', 'superseded', 'revoked', 'expired'] as const;
export type GrantStatus = (typeof GRANT_STATUSES)[number];

export const StatusShape = named('GrantStatus', Type.Enum([...GRANT_STATUSES]));

export const grantFields = {
  grant_id: Type.String(),
  session_id: Type.String(),
  agent_id: Type.String(),
  user_id: nullable(Type.String()),
  service_name: Type.String(),
  credential_type: Type.String(),
  fields: Type.Array(Type.String()),
  status: StatusShape,
  granted_at: instant,
  expires_at: instant,
  revoked_at: nullable(instant),
  /**
   * Whether the credential that was created at the third party for the grant was revoked. A static value stays known to
   * clients that have seen it.
   */
  revocation: named('GrantRevocation', Type.Enum(['none', 'done', 'failed'])),
};
const GrantShape = Type.Object(grantFields);
export type ShownGrant = Static<typeof GrantShape>;

const GRANT = grantRows
  .select(
    'grant_id',
    'slot',
    'session_id',
    'agent_id',
    'user_id',
    'service_name',
    'credential_type',
    'fields',
    'policies',
    'approval_id',
    'capability_jti',
    'granted_at',
    'expires_at',
    'revoked_at',
  )
  .and(selection({ status: textOf<GrantStatus>() }));
type Grant = RowOf<typeof GRANT>;

export const shownGrant = (row: Grant): ShownGrant => ({
  grant_id: row.grant_id,
  session_id: row.session_id,
  agent_id: row.agent_id,
  user_id: row.user_id,
  service_name: row.service_name,
  credential_type: row.credential_type,
  fields: row.fields,
  status: row.status,
  granted_at: row.granted_at.toISOString(),
  expires_at: row.expires_at.toISOString(),
  revoked_at: row.revoked_at?.toISOString() ?? null,
  revocation: row.revoked_at === null ? 'none' : 'done',
});

/** An agent sees its own grants only. */
export const agentOnly = (principal: Principal): string | undefined =>
  principal.kind === 'agent' ? principal.id : undefined;

export type GrantFilter = {
  readonly tenantId: string;
  readonly now: Date;
  readonly grantId?: string | undefined;
  readonly agentId?: string | undefined;
  /** A second filter by agent, for a caller that is an agent and sees only its own grants. */
  readonly ownAgentId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly serviceName?: string | undefined;
  readonly status?: GrantStatus | undefined;
};

/** The time is a parameter, because whether a grant has expired is decided when it is read. */
const WITH_STATUS = `
  SELECT g.*, CASE
    WHEN revoked_at IS NOT NULL THEN 'revoked'
    WHEN superseded_at IS NOT NULL THEN 'superseded'
    WHEN expires_at <= $2 THEN 'expired'
    ELSE 'active' END AS status
  FROM vault.grants g WHERE tenant_id = $1`;

/** A subquery of the grants of a tenant, and its conditions. */
function grantsOf(filter: GrantFilter) {
  const values: unknown[] = [filter.tenantId, filter.now];
  const conditions = ['true'];
  const equal = (column: string, value: unknown): void => {
    if (value !== undefined) conditions.push(`${column} = $${values.push(value)}`);
  };
  equal('grant_id', filter.grantId);
  equal('agent_id', filter.agentId);
  equal('agent_id', filter.ownAgentId);
  equal('session_id', filter.sessionId);
  equal('service_name', filter.serviceName);
  equal('status', filter.status);
  return { from: `(${WITH_STATUS}) found`, where: conditions.join(' AND '), values };
}

export const pageOfGrants = (
  database: Pick<Database, 'asTenantAtOnce'>,
  filter: GrantFilter,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<PageOfRows<Grant>> =>
  pageOfTenant(database, filter.tenantId, {
    ...grantsOf(filter),
    select: GRANT,
    order: 'granted_at DESC, grant_id DESC',
    offset,
    limit,
  });

export async function findGrant(
  sql: Queryable,
  filter: GrantFilter & { readonly grantId: string },
): Promise<Grant | undefined> {
  const { from, where, values } = grantsOf(filter);
  const { rows } = await sql.query<Grant>(
    `SELECT ${GRANT.columns} FROM ${from} WHERE ${where}`,
    values,
  );
  return rows[0];
}

/** Grants of a user, newest first, after the end of the previous page. */
export async function findGrantsOfUser(
  sql: Queryable,
  of: { readonly tenantId: string; readonly userId: string; readonly now: Date },
  { limit, after }: { readonly limit: number; readonly after: Cursor | undefined },
): Promise<readonly Grant[]> {
  const { rows } = await sql.query<Grant>(
    `${WITH_STATUS} AND user_id = $3
       AND ($4::timestamptz IS NULL OR (granted_at, grant_id) < ($4::timestamptz, $5::text))
     ORDER BY granted_at DESC, grant_id DESC LIMIT $6`,
    [of.tenantId, of.now, of.userId, after?.ts ?? null, after?.id ?? null, limit],
  );
  return rows;
}

const WAIT_MS = 2_000;

/** Vends do not wait for this table, so its readers wait until it contains everything appended before their request. */
export const grantsAreLevel = async ({
  store,
  positions,
}: {
  readonly store: { head(log: 'vault'): Promise<bigint> };
  readonly positions: Positions;
}): Promise<boolean> => positions.reached(['grants'], await store.head('vault'), WAIT_MS);
