/** Environment variables with which commands find the API. Each is also accepted as `<NAME>_FILE`. */
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

/** Every call carries credentials, so the URL must be loopback or https. */
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
