/** A standalone instance as a separate process, on ports and a folder that outlive it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type FixtureProcess,
  freePorts,
  type ProcessFixture,
  programOf,
  type RestDriver,
  restDriver,
} from '@cardea/testing';
import { repeatWhenBusy } from './repeat-when-busy.ts';

const MAIN = programOf(new URL('../../services/standalone/src/main.ts', import.meta.url));
const START_MS_MAX = 180_000;
/** Cheap password hashes. Expensive ones would be most of a test's load, and are tested elsewhere. */
export const CHEAP_HASHES = { ARGON2_MEMORY: '8', ARGON2_TIME: '1' };

export const ADMIN = { email: 'root@example.com', password: 'a password for the tests' };

export type Instance = {
  readonly base: string;
  readonly management: string;
  readonly folder: string;
  readonly rest: RestDriver;
  /** Starts the instance, for the first time or again. Resolves when it serves. */
  start(...flags: readonly string[]): Promise<FixtureProcess>;
  /** Signs the admin in: the credentials to send with every call. */
  admin(): Promise<{ readonly bearer: string; readonly tenant: string }>;
};

export async function instance(
  fixture: ProcessFixture,
  env: { readonly [name: string]: string },
): Promise<Instance> {
  const folder = mkdtempSync(join(tmpdir(), 'cardea-faults-'));
  fixture.onEnd(() => rmSync(folder, { recursive: true, force: true }));
  const [port = 0, managementPort = 0] = await freePorts(2);
  const base = `http://127.0.0.1:${port}`;
  const rest = restDriver({ baseUrl: base });
  let tenant = '';
  return {
    base,
    management: `http://127.0.0.1:${managementPort}`,
    folder,
    rest,
    async start(...flags) {
      const running = await fixture.start({
        name: 'standalone',
        script: MAIN,
        args: ['--data', folder, '--port', String(port), ...flags],
        env: {
          MANAGEMENT_PORT: String(managementPort),
          ADMIN_EMAIL: ADMIN.email,
          ADMIN_PASSWORD: ADMIN.password,
          ...CHEAP_HASHES,
          ...env,
        },
        ready: /Tenant\s+(\S+)[\s\S]*Ctrl-C/,
        deadlineMs: START_MS_MAX,
      });
      tenant = running.ready?.[1] ?? '';
      return running;
    },
    async admin() {
      const { email, password } = ADMIN;
      const answer = await repeatWhenBusy(() =>
        rest.post('/api/v1/auth/login', { email, password }, { tenant }),
      );
      if (answer.status !== 200) throw new Error(`login answered ${answer.status}`);
      return { bearer: answer.body.access_token, tenant };
    },
  };
}
