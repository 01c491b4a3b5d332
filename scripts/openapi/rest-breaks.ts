/**
 * Finds what a change of the REST surface breaks for clients of the previous one. Additions break none,
 * unless clients have to send them.
 */
import type { SchemaBreak } from '../events/schema-breaks.ts';
import { type Field, type Fields, isValue, type Operation, type Promised } from './promised.ts';

type Found = Omit<SchemaBreak, 'subject'>;

export const restBreaks = (before: Promised, after: Promised): readonly SchemaBreak[] =>
  Object.entries(before).flatMap(([subject, old]) => {
    const now = after[subject];
    const found = now === undefined ? [{ at: '', what: 'is gone' }] : changes(old, now);
    return found.map((one) => ({ subject, ...one }));
  });

const changes = (before: Operation, after: Operation): readonly Found[] => [
  ...lost(before.callers, after.callers).map((who) => ({ at: '', what: `is closed to ${who}` })),
  ...inputChanges(before.inputs, after.inputs),
  ...Object.entries(before.answers).flatMap(([status, old]) => {
    const now = after.answers[status];
    if (now === undefined) return [{ at: status, what: 'is gone' }];
    if ('codes' in old) {
      const codes = 'codes' in now ? now.codes : [];
      return lost(old.codes, codes).map((code) => ({ at: status, what: `code ${code} is gone` }));
    }
    return answerChanges(old.fields, 'fields' in now ? now.fields : {}, status);
  }),
];

function inputChanges(before: Fields, after: Fields): readonly Found[] {
  const added = Object.entries(after)
    .filter(([at, { required }]) => required === true && before[at]?.required !== true)
    // A part of a new and optional field requires nothing of existing clients.
    .filter(([at]) => before[at] !== undefined || isInside(at, before))
    .map(([at]) => ({
      at,
      what: before[at] === undefined ? 'is new and required' : 'is required',
    }));
  return [
    ...added,
    ...Object.entries(before).flatMap(([at, old]) => {
      const now = after[at];
      if (now === undefined) return [{ at, what: 'is gone' }];
      return lost(old.is, taken(old, now)).map((one) => ({ at, what: `takes no ${one}` }));
    }),
  ];
}

/** The values that an input still accepts: a type accepts each of its values, and numbers include integers. */
const taken = ({ is }: Field, now: Field): readonly string[] => [
  ...now.is,
  ...(now.is.includes('anything') ? is : []),
  ...(now.is.includes('string') ? is.filter(isValue) : []),
  ...(now.is.includes('number') ? ['integer'] : []),
];

/** True for a parameter, and for a field whose parent existed before. */
function isInside(at: string, before: Fields): boolean {
  const around = at.includes('/') ? at.slice(0, at.lastIndexOf('/')) : undefined;
  return around === undefined || around in before;
}

const answerChanges = (before: Fields, after: Fields, status: string): readonly Found[] =>
  Object.entries(before).flatMap(([field, old]) => {
    const at = `${status} ${field}`;
    const now = after[field];
    if (now === undefined) return [{ at, what: 'is gone' }];
    const types = (of: Field) => of.is.map((one) => (isValue(one) ? 'string' : one));
    return [
      ...(old.required === true && now.required !== true ? [{ at, what: 'may be missing' }] : []),
      ...lost(types(now), types(old)).map((type) => ({ at, what: `may be ${type}` })),
    ];
  });

const lost = (before: readonly string[], after: readonly string[]): readonly string[] =>
  before.filter((one) => !after.includes(one));
