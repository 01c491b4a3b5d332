/** A compose file as compose itself reads it: merged, with variables substituted. */
import { parse } from 'yaml';

export type ComposeService = {
  image?: string;
  pull_policy?: string;
  build?: { dockerfile: string; target?: string; args?: { [name: string]: string } };
  command?: readonly string[];
  environment?: { [name: string]: string };
  ports?: string[];
  networks?: string[];
  volumes?: string[];
  profiles?: string[];
  healthcheck?: {
    test?: readonly string[];
    interval?: string;
    start_period?: string;
    timeout?: string;
    retries?: number;
    disable?: boolean;
  };
  depends_on?: { [name: string]: { condition: string; required?: boolean } };
  secrets?: string[];
  mem_limit?: string;
  pids_limit?: number;
  logging?: { driver?: string; options?: { [name: string]: string } };
  restart?: string;
  stop_grace_period?: string;
  read_only?: boolean;
  cap_drop?: string[];
  cap_add?: string[];
  security_opt?: string[];
  tmpfs?: string[];
  privileged?: boolean;
  user?: string;
  network_mode?: string;
  pid?: string;
};

export type ComposeFile = {
  name?: string;
  services: { [name: string]: ComposeService };
  networks: { [name: string]: { internal?: boolean } };
  volumes: { [name: string]: object };
  secrets: { [name: string]: { file: string } };
  [extension: `x-${string}`]: object;
};

export type Variables = { readonly [name: string]: string | undefined };

/** The variables are not substituted yet. */
export const readCompose = (text: string): ComposeFile => parse(text, { merge: true });

const REFERENCE = /\$\$|\$\{(?<name>\w+)(?:(?<operator>:?[-?])(?<rest>[^}]*))?\}/g;

/** Every reference to a variable, with its default. */
export function referencesIn(value: unknown): readonly {
  readonly name: string;
  readonly operator: string;
  readonly rest: string;
}[] {
  if (typeof value === 'object' && value !== null)
    return Object.values(value).flatMap((each) => referencesIn(each));
  return [...String(value).matchAll(REFERENCE)].flatMap(({ groups }) =>
    groups?.['name'] === undefined
      ? []
      : [
          {
            name: groups['name'],
            operator: groups['operator'] ?? '',
            rest: groups['rest'] ?? '',
          },
        ],
  );
}

/** A required variable is not set. */
export class VariableMissing extends Error {
  override readonly name = 'VariableMissing';
}

export function filledIn<T>(value: T, variables: Variables): T {
  if (Array.isArray(value)) return value.map((each) => filledIn(each, variables)) as T;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([key, each]) => [key, filledIn(each, variables)]);
    return Object.fromEntries(entries) as T;
  }
  if (typeof value !== 'string') return value;
  return value.replaceAll(REFERENCE, (all, name?: string, operator = '', rest = '') => {
    if (name === undefined || all === '$$') return '$';
    const given = variables[name];
    const isSet = operator.startsWith(':') ? Boolean(given) : given !== undefined;
    if (isSet) return given ?? '';
    if (operator.endsWith('?')) throw new VariableMissing(`${name}: ${rest}`);
    return rest;
  }) as T;
}

const UNIT_SECONDS: { readonly [unit: string]: number } = { s: 1, m: 60 };

export function secondsOf(duration: string | undefined): number {
  const found = /^(\d+)([sm])$/.exec(duration ?? '');
  return found === null ? 0 : Number(found[1]) * (UNIT_SECONDS[found[2] ?? ''] ?? 0);
}
