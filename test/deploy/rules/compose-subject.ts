/** A compose file with the variables that it is filled in with, as rules look at it. */
import { type ComposeFile, type ComposeService, filledIn, type Variables } from './compose-file.ts';

export type ComposeSubject = {
  /** As written, with references to variables in it. */
  readonly file: ComposeFile;
  /** What `.env` may hold. */
  readonly variables: Variables;
};

export const SERVERS = ['postgres', 'redis', 'kafka', 'eventstore'];
export const WATCHERS = ['prometheus', 'grafana'];

export type Named = readonly [name: string, service: ComposeService];
export const servicesOf = ({ file }: ComposeSubject): readonly Named[] =>
  Object.entries(file.services);
export const named = (subject: ComposeSubject, names: readonly string[]): readonly Named[] =>
  servicesOf(subject).filter(([name]) => names.includes(name));

/** Variables that the file itself requires are made up; the rest is as `.env` has it. */
export function environmentOf(
  { environment = {} }: ComposeService,
  { variables }: ComposeSubject,
): { [name: string]: string } {
  return filledIn(environment, variables);
}
