/** Parses a query string into one string per name. Repeated names, NUL and bytes that are not UTF-8 are faults. */
import type { Fault } from '../refusals/refusal.ts';

const PAIRS_MAX = 64;

export type QueryReading =
  | { readonly values: { [name: string]: string } }
  | { readonly fault: Fault };

export function readQuery(search: string): QueryReading {
  // The object has no prototype, so that no name matches an inherited property.
  const values: { [name: string]: string } = Object.create(null);
  if (search === '') return { values };
  const pairs = search.split('&');
  if (pairs.length > PAIRS_MAX) return { fault: { field: 'query', rule: 'too_many_parameters' } };
  for (const pair of pairs) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decoded(equals === -1 ? pair : pair.slice(0, equals));
    const value = decoded(equals === -1 ? '' : pair.slice(equals + 1));
    if (name === undefined || value === undefined) {
      return { fault: { field: 'query', rule: 'encoding' } };
    }
    if (`${name}${value}`.includes('\0')) return { fault: { field: 'query', rule: 'nul' } };
    if (name in values) return { fault: { field: 'query', rule: 'repeated_parameter' } };
    values[name] = value;
  }
  return { values };
}

function decoded(text: string): string | undefined {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return undefined;
  }
}
