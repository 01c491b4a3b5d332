/** The requests as the lists read them. Overdue requests read as expired even before that is recorded. */
import {
  computed,
  type Database,
  type ListOfRows,
  type PageOfRows,
  pageOfTenant,
  type Queryable,
  type RowOf,
  textOf,
} from '@cardea/read-models';
import type { ServiceDependencies } from '@cardea/service';
import { users } from '../identity-facts/copies.ts';
import { type Origin, requests, type Status, streamOf } from './request.ts';
import { type Shown, shown } from './request-shape.ts';
import { requestRows } from './requests.projection.ts';

/** `$1` is the time of the process's clock, which tests can set. */
const STATUS_AT = `CASE WHEN r.status = 'pending' AND r.expires_at <= $1::timestamptz THEN 'expired' ELSE r.status END`;

const LISTED = requestRows
  .select(
    'tenant_id',
    'id',
    'agent_id',
    'agent_name',
    'user_id',
    'origin',
    'user_vouched',
    'action',
    'resource',
    'reason',
    'severity',
    'binding',
    'created_at',
    'expires_at',
    'responded_at',
    'responded_by',
    'use_before',
    'consumed_at',
    'approver',
    'needed',
    'responders',
    'action_binding',
    'access',
    'escalates_at',
    'escalates_to',
    'deputy_for',
  )
  .of('r')
  .and(computed('status', STATUS_AT, textOf<Status>()))
  .and(users.select('email', 'vouched').of('u').joined());
export type ListedRequest = RowOf<typeof LISTED>;

const REQUESTS = 'approval.requests r';
const USERS = 'LEFT JOIN approval.users u ON u.tenant_id = r.tenant_id AND u.user_id = r.user_id';

/** `rest` follows `FROM … r` in the statement; `values` begins with the time. */
export async function readRows(
  sql: Queryable,
  rest: string,
  values: readonly unknown[],
): Promise<readonly ListedRequest[]> {
  const { rows } = await sql.query<ListedRequest>(selectRows(rest), values);
  return rows;
}

export const selectRows = (rest: string): string =>
  `SELECT ${LISTED.columns} FROM ${REQUESTS} ${USERS} ${rest}`;

/** A page, newest first. `values` begins with the time. */
export const pageOfRequests = (
  database: Pick<Database, 'asTenantAtOnce'>,
  tenantId: string,
  list: Pick<ListOfRows<ListedRequest>, 'where' | 'values' | 'offset' | 'limit'>,
): Promise<PageOfRows<ListedRequest>> =>
  pageOfTenant(database, tenantId, {
    select: LISTED,
    from: REQUESTS,
    join: USERS,
    where: list.where,
    values: list.values,
    order: 'r.created_at DESC, r.id DESC',
    offset: list.offset,
    limit: list.limit,
  });

export const showRows = (
  needs: Pick<ServiceDependencies, 'sealer' | 'streams'>,
  rows: readonly ListedRequest[],
): Promise<Shown[]> => Promise.all(rows.map((row) => showRow(needs, row)));

async function showRow(
  { sealer, streams }: Pick<ServiceDependencies, 'sealer' | 'streams'>,
  row: ListedRequest,
): Promise<Shown> {
  const place = { streamId: streamOf(row.id), field: 'reason' };
  const reason =
    row.reason === null || row.reason === undefined ? null : await sealer.open(row.reason, place);
  return shown(
    {
      id: row.id,
      tenantId: row.tenant_id,
      agentId: row.agent_id,
      agentName: row.agent_name,
      userId: row.user_id,
      origin: row.origin ?? (await originInStream(streams, row)),
      userVouched: row.user_vouched,
      action: row.action,
      resource: row.resource,
      severity: row.severity,
      status: row.status,
      createdAt: row.created_at.toISOString(),
      expiresAt: row.expires_at.toISOString(),
      respondedAt: row.responded_at?.toISOString() ?? null,
      respondedBy: row.responded_by,
      binding: row.binding,
      actionBinding: row.action_binding,
      useBefore: row.use_before?.toISOString() ?? null,
      consumed: row.consumed_at !== null,
      approver: row.approver,
      needed: row.needed ?? 1,
      responders: row.responders ?? [],
      access: row.access,
      escalatesAt: row.escalates_at?.toISOString() ?? null,
      escalatesTo: row.escalates_to,
      deputyFor: row.deputy_for,
    },
    { email: row.email ?? '', vouched: row.vouched ?? row.approver !== null, reason },
  );
}

async function originInStream(
  streams: ServiceDependencies['streams'],
  { tenant_id: tenantId, id }: ListedRequest,
): Promise<Origin> {
  const { state } = await streams.load(requests, { tenantId, id });
  if (state.status === 'none') throw new Error('a row of a request that nobody made');
  return state.facts.origin;
}
