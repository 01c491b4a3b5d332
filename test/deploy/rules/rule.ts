/** A rule looks at a file and says what is wrong with it, a sentence each; its name is how it is told. */
export type Rule<Subject> = (subject: Subject) => readonly string[];

/** The names of the rules that a file breaks. One that breaks the first, its form, is looked at no further. */
export function brokenRules<Subject>(
  rules: readonly Rule<Subject>[],
  subject: Subject,
): readonly string[] {
  const [form, ...others] = rules;
  if (form !== undefined && form(subject).length > 0) return [form.name];
  return others.filter((rule) => rule(subject).length > 0).map(({ name }) => name);
}

/** A file with one thing spoilt. `breaks` names the rule that has to notice. */
export type Mutant<Subject> = {
  readonly what: string;
  readonly breaks: Rule<never>;
  readonly spoil: (subject: Subject) => void;
};

/** Each name that stands in one list and not in the other. */
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

/** They write to people and to servers of others; the rest has no business outside. */
export const REACH_OUTSIDE = ['identity', 'vault', 'approval', 'webhook-dispatcher'];
