/** Helpers with which mutants change a compose file. */
import type { ComposeFile, ComposeService } from './compose-file.ts';

/** Returns the service. Throws if there is none. */
export const service = (file: ComposeFile, name: string): ComposeService => {
  const found = file.services[name];
  if (found === undefined) throw new Error(`no service ${name}`);
  return found;
};
export const settings = (file: ComposeFile, name: string): { [name: string]: string } => {
  const found = service(file, name);
  found.environment = { ...found.environment };
  return found.environment;
};

export const reference = (inside: string): string => `$\{${inside}}`;
