/**
 * Finds what a change of published schemas breaks: for readers that know the old schema and get new
 * records, and for readers that know the new schema and read old records of the topic. Only adding an
 * optional field breaks neither.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Schema, typesOf } from '@cardea/documents';

/** The schemas that subscribers rely on, per subject (`identity/user.created@1`, `headers`, a topic). */
export type Accepted = { readonly [subject: string]: Schema & { readonly partitions?: number } };

export type SchemaBreak = {
  readonly subject: string;
  /** JSON pointer into the data; empty for all of it. */
  readonly at: string;
  readonly what: string;
};

export const schemaBreaks = (before: Accepted, after: Accepted): readonly SchemaBreak[] =>
  Object.entries(before).flatMap(([subject, old]) => {
    const now = after[subject];
    const found = now === undefined ? [{ at: '', what: 'is gone' }] : differences(old, now, '');
    return found.map((one) => ({ subject, ...one }));
  });

type Found = { readonly at: string; readonly what: string };

/** Keywords that describe data and forbid none. */
const ANNOTATIONS = /^(\$schema|\$id|title|description|examples|x-.*)$/;
/** Keywords whose meanings are compared. */
const UNDERSTOOD = new Set(['type', 'enum', 'properties', 'required', 'items']);

const differences = (before: Schema, after: Schema, at: string): readonly Found[] => [
  ...setChanges(typesIn(before), typesIn(after), 'type').map((what) => ({ at, what })),
  ...setChanges(before.enum, after.enum, 'value').map((what) => ({ at, what })),
  ...otherKeywords(before, after).map((what) => ({ at, what })),
  ...fieldChanges(before, after, at),
  ...(before.items === undefined || after.items === undefined
    ? []
    : differences(before.items, after.items, `${at}/-`)),
];

const typesIn = ({ type }: Schema) => (type === undefined ? undefined : typesOf(type));

/** For lists of allowed values: removing one breaks readers of old records, adding one those of new records. */
function setChanges(
  before: readonly unknown[] | undefined,
  after: readonly unknown[] | undefined,
  what: string,
): readonly string[] {
  if (before === undefined && after === undefined) return [];
  if (before === undefined) return [`is narrowed to certain ${what}s`];
  if (after === undefined) return [`is no longer one of certain ${what}s`];
  return [
    ...before.filter((one) => !after.includes(one)).map((one) => `${what} ${one} is gone`),
    ...after.filter((one) => !before.includes(one)).map((one) => `${what} ${one} is new`),
  ];
}

function otherKeywords(before: Schema, after: Schema): readonly string[] {
  const old: { readonly [keyword: string]: unknown } = before;
  const now: { readonly [keyword: string]: unknown } = after;
  return [...new Set([...Object.keys(old), ...Object.keys(now)])]
    .filter((keyword) => !ANNOTATIONS.test(keyword) && !UNDERSTOOD.has(keyword))
    .filter((keyword) => !isDeepStrictEqual(old[keyword], now[keyword]))
    .map((keyword) => `has another ${keyword}`);
}

function fieldChanges(before: Schema, after: Schema, at: string): readonly Found[] {
  const old = before.properties ?? {};
  const now = after.properties ?? {};
  const wasRequired = new Set(before.required);
  const isRequired = new Set(after.required);
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])];
  return names.flatMap((name): readonly Found[] => {
    const field = `${at}/${name}`;
    const [was, is] = [old[name], now[name]];
    if (is === undefined) return [{ at: field, what: 'is gone' }];
    if (was === undefined) {
      return isRequired.has(name) ? [{ at: field, what: 'is new and required' }] : [];
    }
    const change = requirement(wasRequired.has(name), isRequired.has(name));
    return [
      ...(change === undefined ? [] : [{ at: field, what: change }]),
      ...differences(was, is, field),
    ];
  });
}

function requirement(was: boolean, is: boolean): string | undefined {
  if (was === is) return undefined;
  return is ? 'is required now' : 'may be missing now';
}

/**
 * Breaks that the changelog does not name: its newest section must have a part **Breaking** with the
 * subject in backticks, with or without its version.
 */
export function unexplained(
  breaks: readonly SchemaBreak[],
  changelog: string,
): readonly SchemaBreak[] {
  const newest = changelog.split(/^## /m)[1] ?? '';
  const part = newest.split(/^### /m).find((section) => /^Breaking\b/.test(section)) ?? '';
  const named = new Set([...part.matchAll(/`([^`\n]+)`/g)].map(([, name]) => name));
  return breaks.filter(
    ({ subject }) => !named.has(subject) && !named.has(subject.replace(/@\d+$/, '')),
  );
}
