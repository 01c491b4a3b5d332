/**
 * A server that the projects of one test run share. The first project that needs it starts it, and the last one ends
 * it. If it is unavailable, tests are skipped by name, unless CARDEA_REQUIRE names it.
 */
import type { ProvidedContext } from 'vitest';
import type { TestProject } from 'vitest/node';

export type ServerKind = 'postgres' | 'redis' | 'kafka' | 'eventstore';
/** There is no server, with the reason. */
export type Missing = { readonly missing: string };
export type Started<Info> = { readonly info: Info; stop(): Promise<void> };

type Shared = { users: number; readonly started: Promise<Started<unknown>> };

/** Each project loads this module separately, so shared state has to be outside of it. */
const SHARED = Symbol.for('cardea.serversOfRun');
const globals = globalThis as { [SHARED]?: Map<ServerKind, Shared> };

/** The global setup that vitest runs once per project. Tests find what it `provides` under the kind's name. */
export function serverSetup<Kind extends ServerKind & keyof ProvidedContext>(
  kind: Kind,
  start: () => Promise<Started<ProvidedContext[Kind]>>,
) {
  return async (project: TestProject): Promise<() => Promise<void>> => {
    globals[SHARED] ??= new Map();
    const all = globals[SHARED];
    const shared: Shared = all.get(kind) ?? { users: 0, started: start() };
    all.set(kind, shared);
    shared.users += 1;
    const { info, stop } = await shared.started;
    project.provide(kind, info as ProvidedContext[Kind]);
    return async () => {
      shared.users -= 1;
      if (shared.users > 0) return;
      all.delete(kind);
      await stop();
    };
  };
}

/** The result if there is no such server. Throws when CARDEA_REQUIRE names it. */
export function withoutServer(kind: ServerKind, missing: string): Started<Missing> {
  if (isRequired(kind)) throw new Error(`CARDEA_REQUIRE names ${kind}, but ${missing}`);
  return { info: { missing }, stop: async () => undefined };
}

/** Whether a missing server of this kind fails the run instead of skipping tests. */
export function isRequired(kind: ServerKind): boolean {
  return (process.env['CARDEA_REQUIRE'] ?? '').split(',').includes(kind);
}

/** Reads the variable once and removes it, because a process under test refuses settings that it does not know. */
export function takeVariable(name: string): string | undefined {
  const value = process.env[name];
  delete process.env[name];
  return value || undefined;
}
