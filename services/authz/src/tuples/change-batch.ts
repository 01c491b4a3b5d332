/** The schema of a batch of changes, for applying it and for dry runs. */
import { documented } from '@cardea/contracts';
import Type from 'typebox';
import { writableShape } from '../http/tuple-shape.ts';
import { deletionFaultOf, faultOf } from '../models/current-models.ts';
import type { Model } from '../models/model.ts';
import { type Batch, type Fields, fieldsOf, isWildcardParent } from '../relations/relation.ts';

export const CHANGES_MAX = 100;

const changes = Type.Optional(
  documented(Type.Array(writableShape, { maxItems: CHANGES_MAX }), { uniqueItems: true }),
);
export const changesShape = { writes: changes, deletes: changes };
/** At least one list must have an entry. */
export const NOT_EMPTY = {
  not: { properties: { writes: { maxItems: 0 }, deletes: { maxItems: 0 } } },
};

export type Fault = { readonly field: string; readonly rule: string };

type Refused = { readonly refused: 'invalid_request'; readonly details: object[] };

export function readBatch(body: {
  readonly writes?: readonly Fields[];
  readonly deletes?: readonly Fields[];
}): Batch | Refused {
  const batch = {
    writes: (body.writes ?? []).map(fieldsOf),
    deletes: (body.deletes ?? []).map(fieldsOf),
  };
  const count = batch.writes.length + batch.deletes.length;
  if (count === 0 || count > CHANGES_MAX) {
    const rule = count === 0 ? 'min_items' : 'max_items';
    return { refused: 'invalid_request', details: [{ field: 'body', rule }] };
  }
  const faults = faultsOf(batch);
  return faults.length > 0 ? { refused: 'invalid_request', details: [...faults] } : batch;
}

/** Returns the faults under the tenant's model. */
export function faultsUnder(model: Model, { writes, deletes }: Batch): Refused | undefined {
  const ofWrites = writes.map((fields) => faultOf(model, fields));
  const ofDeletes = deletes.map((fields) => deletionFaultOf(model, fields));
  const faults = Object.entries({ writes: ofWrites, deletes: ofDeletes }).flatMap(([list, rules]) =>
    rules.flatMap((rule, at): Fault[] =>
      rule === undefined ? [] : [{ field: `${list}.${at}.relation`, rule }],
    ),
  );
  return faults.length > 0 ? { refused: 'invalid_request', details: faults } : undefined;
}

/** Returns the faults of a batch as a whole, before any part of it is decided. */
export function faultsOf({ writes, deletes }: Batch): readonly Fault[] {
  const seen = new Set<string>();
  return Object.entries({ writes, deletes }).flatMap(([list, tuples]) =>
    tuples.flatMap((fields, at): Fault[] => {
      const text = JSON.stringify(fieldsOf(fields));
      if (seen.has(text)) return [{ field: `${list}.${at}`, rule: 'repeated' }];
      seen.add(text);
      return isWildcardParent(fields) ? [{ field: `${list}.${at}.user_id`, rule: 'wildcard' }] : [];
    }),
  );
}
