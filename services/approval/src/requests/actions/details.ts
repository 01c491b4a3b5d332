/**
 * What a caller's own tool would do once it is approved. It is kept as it was sent, because what is bound has
 * to be what the person sees.
 */
import { canonicalJson } from '@cardea/http';
import { DETAILS_DEPTH_MAX, DETAILS_MAX_BYTES, DETAILS_MEMBERS_MAX } from '../limits.ts';

export type Details = { readonly [name: string]: unknown };
export type DetailsFault = 'depth' | 'too_many_members' | 'number_range' | 'max_bytes';

/** The first limit that the details exceed; undefined if a person can be shown all of them. */
export function faultOfDetails(details: Details): DetailsFault | undefined {
  const found = { depth: 0, members: 0, isExact: true };
  measure(details, 0, found);
  if (found.depth > DETAILS_DEPTH_MAX) return 'depth';
  if (found.members > DETAILS_MEMBERS_MAX) return 'too_many_members';
  if (!found.isExact) return 'number_range';
  return Buffer.byteLength(canonicalJson(details)) > DETAILS_MAX_BYTES ? 'max_bytes' : undefined;
}

type Measures = { depth: number; members: number; isExact: boolean };

/** The parser of the body has limited the depth already. */
function measure(value: unknown, above: number, found: Measures): void {
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    // Its digits were rounded when it was read, so the person would not see what was sent.
    found.isExact = false;
  }
  if (value === null || typeof value !== 'object') return;
  const members = Object.values(value);
  found.depth = Math.max(found.depth, above + 1);
  found.members += members.length;
  for (const member of members) measure(member, above + 1, found);
}
