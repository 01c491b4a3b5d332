/** A compose file with the variables to substitute, as rules receive it. */
import { type ComposeFile, type ComposeService, filledIn, type Variables } from './compose-file.ts';

export type ComposeSubject = {
  /** As written, with references to variables in it. */
  readonly file: ComposeFile;
  /** Variables that `.env` may contain. */
  readonly variables: Variables;
};

export const SERVERS = ['postgres', 'redis', 'kafka', 'eventstore'];
export const WATCHERS = ['prometheus', 'grafana'];

export type Named = readonly [name: string, service: ComposeService];
export const servicesOf = ({ file }: ComposeSubject): readonly Named[] =>
  Object.entries(file.services);
export const named = (subject: ComposeSubject, names: readonly string[]): readonly Named[] =>
  servicesOf(subject).filter(([name]) => names.includes(name));

/** Variables that the file itself requires are invented; the others are as in `.env`. */
export function environmentOf(
  { environment = {} }: ComposeService,
  { variables }: ComposeSubject,
): { [name: string]: string } {
  return filledIn(environment, variables);
}
