/** Checks that promoting and rolling back share: both change the current versions of several fields. */
import { currentOf, fieldOf, type ServiceRecord } from './service.ts';

/** The number of each field's current version as the caller knows it; 0 if none is current. */
export type ExpectedCurrent = { readonly [field: string]: number };

export function currentFault(
  record: ServiceRecord,
  names: readonly string[],
  expected: ExpectedCurrent,
): 'unknown_field' | 'version_conflict' | undefined {
  const all = [...names, ...Object.keys(expected)];
  if (all.some((name) => fieldOf(record, name) === undefined)) return 'unknown_field';
  const isOther = ([name, version]: [string, number]) => currentNumber(record, name) !== version;
  return Object.entries(expected).some(isOther) ? 'version_conflict' : undefined;
}

const currentNumber = (record: ServiceRecord, name: string): number => {
  const field = fieldOf(record, name);
  return (field && currentOf(field)?.version) ?? 0;
};
