import { type Fields, fieldsOf, isWildcardParent } from '../relation.ts';

export type Batch = { readonly writes: readonly Fields[]; readonly deletes: readonly Fields[] };
export type Fault = { readonly field: string; readonly rule: string };

/** What is wrong with a batch as a whole, before anything of it is decided. */
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
