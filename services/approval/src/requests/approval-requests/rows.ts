/** The requests as the lists read them. Overdue requests read as expired even before that is recorded. */
import type { ApproverSet } from '@cardea/contracts';
import type { Queryable } from '@cardea/read-models';
import type { ServiceDependencies } from '@cardea/service';
import {
  type AccessWanted,
  type Origin,
  type RequestFacts,
  requests,
  type Severity,
  type Status,
  streamOf,
} from './request.ts';
import { type Shown, shown } from './request-shape.ts';

/** `$1` is the time of the process's clock, which tests can set. */
export const STATUS_AT = `CASE WHEN r.status = 'pending' AND r.expires_at <= $1::timestamptz THEN 'expired' ELSE r.status END`;

export type Row = {
  readonly tenant_id: string;
  readonly id: string;
  readonly agent_id: string;
  readonly agent_name: string;
  readonly user_id: string;
  readonly email: string | null;
  readonly vouched: boolean | null;
  /** Null in older rows. */
  readonly origin: Origin | null;
  readonly user_vouched: boolean | null;
  readonly action: string;
  readonly resource: string | null;
  readonly reason: RequestFacts['reason'] | null;
  readonly severity: Severity;
  readonly status: Status;
  readonly binding: NonNullable<RequestFacts['binding']> | null;
  readonly action_binding: NonNullable<RequestFacts['action_binding']> | null;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly responded_at: Date | null;
  readonly responded_by: string | null;
  readonly use_before: Date | null;
  readonly consumed_at: Date | null;
  /** Null for a request to one person. */
  readonly approver: ApproverSet | null;
  readonly needed: number | null;
  readonly responders: readonly string[] | null;
  readonly access: AccessWanted | null;
  /** When a second addressee may decide too, and who; null where none ever does. */
  readonly escalates_at: Date | null;
  readonly escalates_to: string | null;
  /** The person who was asked, where the request is made out to their deputy. */
  readonly deputy_for: string | null;
};

/** `rest` follows `FROM … r` in the statement; `values` begins with the time. */
export async function readRows(
  sql: Queryable,
  rest: string,
  values: readonly unknown[],
): Promise<readonly Row[]> {
  const { rows } = await sql.query<Row>(selectRows(rest), values);
  return rows;
}

export const selectRows = (rest: string): string =>
  `SELECT r.tenant_id, r.id, r.agent_id, r.agent_name, r.user_id, u.email, u.vouched,
            r.origin, r.user_vouched, r.action, r.resource,
            r.reason, r.severity, ${STATUS_AT} AS status, r.binding, r.created_at, r.expires_at,
            r.responded_at, r.responded_by, r.use_before, r.consumed_at,
            r.approver, r.needed, r.responders, r.action_binding, r.access, r.escalates_at,
            r.escalates_to, r.deputy_for
     FROM approval.requests r
     LEFT JOIN approval.users u ON u.tenant_id = r.tenant_id AND u.user_id = r.user_id
     ${rest}`;

export const showRows = (
  needs: Pick<ServiceDependencies, 'sealer' | 'streams'>,
  rows: readonly Row[],
): Promise<Shown[]> => Promise.all(rows.map((row) => showRow(needs, row)));

async function showRow(
  { sealer, streams }: Pick<ServiceDependencies, 'sealer' | 'streams'>,
  row: Row,
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
  { tenant_id: tenantId, id }: Row,
): Promise<Origin> {
  const { state } = await streams.load(requests, { tenantId, id });
  if (state.status === 'none') throw new Error('a row of a request that nobody made');
  return state.facts.origin;
}
