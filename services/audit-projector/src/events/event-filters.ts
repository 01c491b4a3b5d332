/** The filters of a list or an export: those of `docs/contract.md` 4.7, and later ones. */

import type { Cursor } from '@cardea/contracts';
import { exactText, instantOf, named } from '@cardea/contracts';
import { build } from '@cardea/read-models';
import { storedId } from '@cardea/runtime';
import Type, { type Static } from 'typebox';

const CATEGORIES = [
  'auth',
  'agent',
  'admin',
  'credential',
  'authorization',
  'fga',
  'vault',
] as const;
const RESULTS = ['success', 'failure', 'denied'] as const;
const ACTOR_TYPES = ['user', 'agent', 'system', 'admin'] as const;
const TYPE_CHARS_MAX = 100;
/** The maximum length of a client id, which can be an address. */
const ID_CHARS_MAX = 2_048;
const TIME_CHARS_MAX = 40;

export const Category = named('AuditCategory', Type.Enum([...CATEGORIES]));
export const Result = named('AuditResult', Type.Enum([...RESULTS]));
export const ActorType = named('AuditActorType', Type.Enum([...ACTOR_TYPES]));
const moment = Type.Optional(Type.String({ maxLength: TIME_CHARS_MAX, format: 'date-time' }));
const text = (maxLength: number) => Type.Optional(Type.String({ minLength: 1, maxLength }));
const targetId = exactText(Type.String({ minLength: 1, maxLength: ID_CHARS_MAX }));

export const filterQuery = {
  type: text(TYPE_CHARS_MAX),
  category: Type.Optional(Category),
  from: moment,
  to: moment,
  action: text(TYPE_CHARS_MAX),
  result: Type.Optional(Result),
  actor_type: Type.Optional(ActorType),
  actor_id: text(ID_CHARS_MAX),
  target_type: text(TYPE_CHARS_MAX),
  target_id: Type.Optional(targetId),
};
const FilterQuery = Type.Object(filterQuery);
export type FilterQuery = Static<typeof FilterQuery>;

/** A validated query. `from` and `to` are instants. */
export type Filters = {
  readonly tenantId: string;
  readonly appId: string | undefined;
  readonly from: Date | undefined;
  readonly to: Date | undefined;
  readonly equal: { readonly [column: string]: string };
  /**
   * Matches the requested id and its lower-case form, in which Cardea stores its own ids. Ids of objects in a
   * tenant's own authorization model keep their case.
   */
  readonly targetIds?: readonly string[];
};

export type NotUnderstood = { readonly field: 'from' | 'to'; readonly rule: string };

const EQUAL = [
  'type',
  'category',
  'action',
  'result',
  'actor_type',
  'actor_id',
  'target_type',
  'target_id',
] as const;

export function readFilters(
  query: FilterQuery,
  of: { readonly tenantId: string; readonly appId: string | undefined },
): Filters | NotUnderstood {
  const from = query.from === undefined ? undefined : instantOf(query.from);
  if (from === null) return { field: 'from', rule: 'date-time' };
  const to = query.to === undefined ? undefined : instantOf(query.to);
  if (to === null) return { field: 'to', rule: 'date-time' };
  if (from !== undefined && to !== undefined && from > to) return { field: 'from', rule: 'order' };
  const equal = Object.fromEntries(
    EQUAL.flatMap((name) => (query[name] === undefined ? [] : [[name, query[name]]])),
  );
  const { target_id: asked, ...others } = equal;
  const targetIds = [asked ?? '', storedId(asked ?? '')] as const;
  if (targetIds[0] === targetIds[1]) return { ...of, from, to, equal };
  return { ...of, from, to, equal: others, targetIds };
}

/** Builds `SELECT columns … ORDER BY ts DESC, id DESC`, newest first. */
export function select(
  columns: readonly string[],
  { tenantId, appId, from, to, equal, targetIds }: Filters,
  page: { readonly limit: number; readonly offset?: number; readonly after?: Cursor | undefined },
): { readonly text: string; readonly values: readonly unknown[] } {
  return build((knex) => {
    const query = knex('audit.events')
      .select(columns.map((column) => knex.raw(column)))
      .where('tenant_id', tenantId)
      .where(equal)
      .orderBy([
        { column: 'ts', order: 'desc' },
        { column: 'id', order: 'desc' },
      ])
      .limit(page.limit);
    if (targetIds !== undefined) query.whereIn('target_id', targetIds);
    if (appId !== undefined) query.where('app_id', appId);
    if (from !== undefined) query.where('ts', '>=', from.toISOString());
    if (to !== undefined) query.where('ts', '<=', to.toISOString());
    if (page.offset) query.offset(page.offset);
    if (page.after !== undefined) {
      query.whereRaw('(ts, id) < (?::timestamptz, ?::uuid)', [page.after.ts, page.after.id]);
    }
    return query;
  });
}
