/** How commands find the API: variables of the environment, each also as `<NAME>_FILE`. */
import { readFileSync } from 'node:fs';
import { type Environment, isLoopbackHost } from '@cardea/runtime';
import { WrongConfiguration } from './failures.ts';

export type VariableFault = {
  readonly name: string;
  readonly fault: string;
  readonly form: string;
};

export function givenIn(env: Environment, name: string): string | undefined {
  const file = env[`${name}_FILE`];
  if (env[name] || !file) return env[name];
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** Credentials go with every call: over no network, or encrypted. */
export function urlFault(url: URL | null, env: Environment): VariableFault | undefined {
  if (url !== null && isSafe(url, env)) return undefined;
  const form = 'https, or http to this machine or a host of CARDEA_ALLOW_PLAINTEXT';
  return { name: 'CARDEA_URL', fault: 'is not safe', form };
}

function isSafe(url: URL, env: Environment): boolean {
  if (url.protocol === 'https:') return true;
  const allowed = (env['CARDEA_ALLOW_PLAINTEXT'] ?? '').split(',');
  const isNamed = allowed.includes(url.hostname) || allowed.includes(url.host);
  return url.protocol === 'http:' && (isLoopbackHost(url.hostname) || isNamed);
}

export function wrongEnvironment(faults: readonly VariableFault[]): WrongConfiguration {
  const lines = faults.map(({ name, fault, form }) => `${name} ${fault}: ${form}`);
  return new WrongConfiguration(['The environment is wrong:', ...lines].join('\n  '), faults);
}
