import { type Fields, WILDCARD } from '../relation.ts';

export type Batch = { readonly writes: readonly Fields[]; readonly deletes: readonly Fields[] };
export type Fault = { readonly field: string; readonly rule: string };

/** What is wrong with a batch as a whole, before anything of it is decided. */
export function faultsOf({ writes, deletes }: Batch): readonly Fault[] {
  const seen = new Set<string>();
  return Object.entries({ writes, deletes }).flatMap(([list, tuples]) =>
    tuples.flatMap((fields, at): Fault[] => {
      const text = JSON.stringify([
        fields.user_type,
        fields.user_id,
        fields.relation,
        fields.object_type,
        fields.object_id,
      ]);
      if (seen.has(text)) return [{ field: `${list}.${at}`, rule: 'repeated' }];
      seen.add(text);
      // Nothing is the parent of everything.
      return fields.relation === 'parent' && fields.user_id === WILDCARD
        ? [{ field: `${list}.${at}.user_id`, rule: 'wildcard' }]
        : [];
    }),
  );
}
