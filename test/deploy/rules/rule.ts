/**
 * A rule checks a file and returns what is wrong with it, a sentence each; its name identifies it in
 * reports.
 */
export type Rule<Subject> = (subject: Subject) => readonly string[];

/**
 * The names of the rules that a file breaks. If it breaks the first, about its form, the others are
 * skipped.
 */
export function brokenRules<Subject>(
  rules: readonly Rule<Subject>[],
  subject: Subject,
): readonly string[] {
  const [form, ...others] = rules;
  if (form !== undefined && form(subject).length > 0) return [form.name];
  return others.filter((rule) => rule(subject).length > 0).map(({ name }) => name);
}

/** A file with one mutation. `breaks` names the rule that has to detect it. */
export type Mutant<Subject> = {
  readonly what: string;
  readonly breaks: Rule<never>;
  readonly spoil: (subject: Subject) => void;
};

/** Each name that is in only one of the lists. */
export function difference(
  expected: readonly string[],
  found: readonly string[],
  what: string,
): readonly string[] {
  return [
    ...expected.filter((name) => !found.includes(name)).map((name) => `${what} lacks ${name}`),
    ...found.filter((name) => !expected.includes(name)).map((name) => `${what} has ${name}`),
  ];
}

/** Folders of `services/` that run as a process of their own. */
export const SERVICES = [
  'identity',
  'authz',
  'vault',
  'approval',
  'webhook-dispatcher',
  'audit-projector',
] as const;

/** Services that send mail or call third-party servers. The others have no reason to connect outside. */
export const REACH_OUTSIDE = ['identity', 'vault', 'approval', 'webhook-dispatcher'];
