import { instantOf, NullableTime, named, Time } from '@cardea/contracts';
import type { Sealer } from '@cardea/crypto';
import { endpoint } from '@cardea/http';
import { build, type Database, type RowOf } from '@cardea/read-models';
import { isUuid } from '@cardea/runtime';
import Type, { type Static } from 'typebox';
import { type Cursor, printCursor, readCursor } from '../cursor.ts';
import { attemptRows, DELIVERIES_TABLE } from '../deliveries.projection.ts';
import { excerptField, streamOf } from '../delivery.ts';
import { printDeliveryAttemptId } from '../delivery-attempt-id.ts';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 1_000;
const CURSOR_CHARS_MAX = 200;
const TEXT_CHARS_MAX = 128;

const text = Type.Optional(Type.String({ minLength: 1, maxLength: TEXT_CHARS_MAX }));
const moment = Type.Optional(Type.String({ maxLength: TEXT_CHARS_MAX, format: 'date-time' }));
const queryShape = Type.Object({
  webhook_id: text,
  event: text,
  success: Type.Optional(Type.Boolean()),
  from: moment,
  to: moment,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMIT_MAX })),
  cursor: Type.Optional(Type.String({ maxLength: CURSOR_CHARS_MAX })),
  detail: Type.Optional(Type.Boolean()),
});
type Query = Static<typeof queryShape>;

const textOrNull = Type.Union([Type.String(), Type.Null()]);
const attemptShape = named(
  'WebhookDelivery',
  Type.Object({
    id: Type.String(),
    webhook_id: Type.String(),
    event: Type.String(),
    status_code: Type.Integer(),
    success: Type.Boolean(),
    duration_ms: Type.Integer(),
    attempted_at: Time,
    // Only with `detail`.
    delivery_id: Type.Optional(Type.String()),
    attempt: Type.Optional(Type.Integer()),
    origin: Type.Optional(Type.String()),
    error: Type.Optional(textOrNull),
    next_attempt_at: Type.Optional(NullableTime),
    final: Type.Optional(Type.Boolean()),
    response_excerpt: Type.Optional(textOrNull),
  }),
);

type Dependencies = { readonly database: Database; readonly sealer: Pick<Sealer, 'open'> };

export const listDeliveriesRoute = ({ database, sealer }: Dependencies) =>
  endpoint(
    {
      tag: 'Webhooks',
      who: ['admin'],
      name: 'list_webhook_deliveries',
      machine: 'webhooks:read',
      access: { class: 'things', applicationScope: 'roles' },
      summary: 'Attempts to deliver, newest first',
      description:
        "Lists attempts to deliver, newest first, 50 unless `limit` says otherwise (up to 1,000). With `cursor`, which is empty for the first page, the answer has `next_cursor` for the next one. `detail=true` adds why an attempt failed, when the next one follows, and the beginning of the receiver's answer.",
      method: 'get',
      path: '/api/v1/webhooks/deliveries',
      query: queryShape,
      ok: Type.Object({
        deliveries: Type.Array(attemptShape),
        next_cursor: Type.Optional(textOrNull),
      }),
      refusals: { invalid_request: 400 },
      consistency: { reads: [DELIVERIES_TABLE] },
    },
    async ({ query, tenantId, appId }) => {
      const wanted = read(query, { tenantId, appId });
      if ('rule' in wanted) return { refused: 'invalid_request', details: [wanted] };
      const { text: sql, values } = select(wanted);
      const { rows } = await database.tenant(tenantId).query<Attempt>(sql, values);
      const deliveries = rows.map(shown);
      const detailed =
        query.detail === true
          ? await Promise.all(rows.map((row) => detailOf(sealer, row)))
          : deliveries.map(() => ({}));
      return {
        ok: {
          deliveries: deliveries.map((each, index) => ({ ...each, ...detailed[index] })),
          ...(query.cursor === undefined ? {} : { next_cursor: nextCursor(rows, wanted.limit) }),
        },
      };
    },
  );

type Wanted = {
  readonly tenantId: string;
  readonly equal: { readonly [column: string]: string | boolean };
  readonly from: Date | undefined;
  readonly to: Date | undefined;
  readonly limit: number;
  readonly after: Cursor | undefined;
  /** Whether the filters cannot match anything. */
  readonly nothing: boolean;
};
type NotUnderstood = { readonly field: string; readonly rule: string };

function read(
  query: Query,
  of: { readonly tenantId: string; readonly appId: string | undefined },
): Wanted | NotUnderstood {
  const { webhook_id, event, success, cursor, limit = LIMIT_DEFAULT } = query;
  const from = query.from === undefined ? undefined : instantOf(query.from);
  if (from === null) return { field: 'from', rule: 'date-time' };
  const to = query.to === undefined ? undefined : instantOf(query.to);
  if (to === null) return { field: 'to', rule: 'date-time' };
  const after = cursor === undefined || cursor === '' ? undefined : readCursor(cursor);
  if (after === undefined && cursor) return { field: 'cursor', rule: 'form' };
  return {
    tenantId: of.tenantId,
    equal: {
      ...(of.appId === undefined ? {} : { app_id: of.appId }),
      ...(webhook_id === undefined ? {} : { webhook_id }),
      ...(event === undefined ? {} : { event }),
      ...(success === undefined ? {} : { success }),
    },
    from,
    to,
    limit,
    after,
    nothing: webhook_id !== undefined && !isUuid(webhook_id),
  };
}

const ORDER = ['attempted_at', 'delivery_id', 'n'].map((column) => ({ column, order: 'desc' }));

const select = ({ tenantId, equal, from, to, limit, after, nothing }: Wanted) =>
  build((knex) => {
    const rows = knex('webhooks.attempts')
      .select(knex.raw(LISTED.columns))
      .where('tenant_id', tenantId);
    if (nothing) return rows.whereRaw('false');
    rows.where(equal).orderBy(ORDER).limit(limit);
    if (from !== undefined) rows.where('attempted_at', '>=', from.toISOString());
    if (to !== undefined) rows.where('attempted_at', '<=', to.toISOString());
    if (after === undefined) return rows;
    return rows.whereRaw(
      '(attempted_at, delivery_id, n) < (?::timestamptz, ?::uuid, ?::smallint)',
      [after.attemptedAt, after.deliveryId, after.n],
    );
  });

const LISTED = attemptRows.select(
  'attempted_at',
  'delivery_id',
  'n',
  'webhook_id',
  'event',
  'origin',
  'status_code',
  'success',
  'duration_ms',
  'error',
  'excerpt',
  'next_at',
  'final',
);
type Attempt = RowOf<typeof LISTED>;

const shown = (row: Attempt) => ({
  id: printDeliveryAttemptId({ deliveryId: row.delivery_id, n: row.n }),
  webhook_id: row.webhook_id,
  event: row.event,
  status_code: row.status_code,
  success: row.success,
  duration_ms: row.duration_ms,
  attempted_at: row.attempted_at.toISOString(),
});

const detailOf = async (sealer: Pick<Sealer, 'open'>, row: Attempt) => ({
  delivery_id: row.delivery_id,
  attempt: row.n,
  origin: row.origin,
  error: row.error,
  next_attempt_at: row.next_at?.toISOString() ?? null,
  final: row.final,
  response_excerpt:
    row.excerpt === null
      ? null
      : await sealer.open(row.excerpt, {
          streamId: streamOf(row.delivery_id),
          field: excerptField(row.n),
        }),
});

function nextCursor(rows: readonly Attempt[], limit: number): string | null {
  const last = rows.at(-1);
  if (last === undefined || rows.length < limit) return null;
  const { attempted_at, delivery_id, n } = last;
  return printCursor({ attemptedAt: attempted_at.toISOString(), deliveryId: delivery_id, n });
}
