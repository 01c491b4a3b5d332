/**
 * The details describe what a caller's own tool does after the approval. They are stored as they were sent, because the
 * approval has to be bound to what the person sees.
 */
import { canonicalJson } from '@cardea/http';
import { DETAILS_DEPTH_MAX, DETAILS_MAX_BYTES, DETAILS_MEMBERS_MAX } from '../limits.ts';

export type Details = { readonly [name: string]: unknown };
export type DetailsFault = 'depth' | 'too_many_members' | 'number_range' | 'max_bytes';

/** Returns the first limit that the details exceed. Undefined if all of them can be shown to a person. */
export function faultOfDetails(details: Details): DetailsFault | undefined {
  const found = { depth: 0, members: 0, isExact: true };
  measure(details, 0, found);
  if (found.depth > DETAILS_DEPTH_MAX) return 'depth';
  if (found.members > DETAILS_MEMBERS_MAX) return 'too_many_members';
  if (!found.isExact) return 'number_range';
  return Buffer.byteLength(canonicalJson(details)) > DETAILS_MAX_BYTES ? 'max_bytes' : undefined;
}

type Measures = { depth: number; members: number; isExact: boolean };

/** Measures the details. The parser of the body has already limited the depth. */
function measure(value: unknown, above: number, found: Measures): void {
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    // The number's digits were rounded when it was parsed, so the person would not see what was sent.
    found.isExact = false;
  }
  if (value === null || typeof value !== 'object') return;
  const members = Object.values(value);
  found.depth = Math.max(found.depth, above + 1);
  found.members += members.length;
  for (const member of members) measure(member, above + 1, found);
}
