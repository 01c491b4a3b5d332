/** Finds which wrapping keys decrypt the stored data, if services may have their own secrets. */
import type { CountedKeys } from '@cardea/service';

type Ids = { readonly [state in CountedKeys['key']]: readonly string[] };

/** A row is decrypted by the deployment's secrets or by those that its service derives from them. */
export function readableKeys(
  byDeployment: readonly CountedKeys[],
  byService: readonly CountedKeys[],
): Ids {
  const derived = new Map(byService.map((each) => [`${each.table} ${each.kek_id}`, each.key]));
  const states = byDeployment.map(({ table, kek_id, key }) => ({
    kek_id,
    key: key === 'unknown' ? (derived.get(`${table} ${kek_id}`) ?? key) : key,
  }));
  const idsOf = (state: CountedKeys['key']) => [
    ...new Set(states.filter(({ key }) => key === state).map(({ kek_id }) => kek_id)),
  ];
  return { current: idsOf('current'), previous: idsOf('previous'), unknown: idsOf('unknown') };
}
