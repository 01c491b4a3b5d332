/** Tests how people end `npm start`: whichever process gets the signal, no process remains and no data is lost. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clusterOf } from '@cardea/local-postgres';
import {
  childrenOf,
  descendantsOf,
  type FixtureProcess,
  freePorts,
  processFixture,
  procText,
  restDriver,
  testForm,
  untilTrue,
} from '@cardea/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN, CHEAP_HASHES } from './instance.ts';

/** The time limit on a busy machine. On an idle one all processes are gone within two seconds. */
const GONE_MS_MAX = 60_000;
const START_MS_MAX = 180_000;

const fixture = processFixture();
const folder = mkdtempSync(join(tmpdir(), 'cardea-npm-'));
fixture.onEnd(() => {
  rmSync(clusterOf(join(folder, 'postgres')), { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
});
let ports: readonly number[] = [];
beforeAll(async () => {
  ports = await freePorts(2);
});

type Started = {
  readonly npm: FixtureProcess;
  readonly bootstrap: number;
  readonly server: number;
  /** All processes that it has started, including its PostgreSQL. */
  readonly family: readonly number[];
  readonly tenant: string;
};

async function started(): Promise<Started> {
  const [port, managementPort] = ports;
  const npm = await fixture.start({
    name: 'npm-start',
    command: 'npm',
    args: ['start', '--', '--data', folder, '--port', String(port)],
    env: {
      MANAGEMENT_PORT: String(managementPort),
      ADMIN_EMAIL: ADMIN.email,
      ADMIN_PASSWORD: ADMIN.password,
      ...CHEAP_HASHES,
    },
    // Ctrl-C goes to all processes of a group.
    detached: true,
    ready: /Tenant\s+(\S+)[\s\S]*Ctrl-C/,
    deadlineMs: START_MS_MAX,
  });
  const [bootstrap = 0] = childrenOf(npm.pid).filter((pid) => /bootstrap/.test(commandOf(pid)));
  const [server = 0] = childrenOf(bootstrap);
  return {
    ...{ npm, bootstrap, server, tenant: npm.ready?.[1] ?? '' },
    family: [npm.pid, ...descendantsOf(npm.pid)],
  };
}

const commandOf = (pid: number): string => procText(`/proc/${pid}/cmdline`);
/** A zombie, which its parent has not reaped yet, has no command any more. */
const livingOf = (pids: readonly number[]): readonly string[] =>
  pids.map(commandOf).filter((command) => command !== '');

async function signIn(tenant: string): Promise<number> {
  const rest = restDriver({ baseUrl: `http://127.0.0.1:${ports[0]}` });
  return (await rest.post('/api/v1/auth/login', ADMIN, { tenant })).status;
}

async function expectNothingLeft({ family }: Started): Promise<void> {
  await untilTrue(() => livingOf(family).length === 0, {
    deadlineMs: GONE_MS_MAX,
    what: 'all processes are gone',
  }).catch(() => undefined); // The expectation below reports what is left.
  expect(livingOf(family)).toEqual([]);
}

type End = { readonly what: string; readonly end: (all: Started) => unknown };
/** The short form ends npm by SIGTERM in the last test. */
const ENDS: readonly End[] = [
  { what: 'Ctrl-C', end: ({ npm }) => process.kill(-npm.pid, 'SIGINT') },
  { what: 'SIGKILL of npm', end: ({ npm }) => npm.signal('SIGKILL') },
  ...(testForm.long
    ? [
        { what: 'SIGTERM to npm', end: ({ npm }: Started) => npm.signal('SIGTERM') },
        {
          what: 'SIGTERM to the bootstrap',
          end: ({ bootstrap }: Started) => process.kill(bootstrap),
        },
      ]
    : []),
];

describe.runIf(process.platform === 'linux')('O2 R25 npm start', () => {
  it.each(ENDS)('leaves no process behind after $what', async ({ end }) => {
    const all = await started();
    expect(livingOf(all.family).filter((command) => /postgres/.test(command))).not.toEqual([]);
    expect(await signIn(all.tenant)).toBe(200);
    await end(all);
    await expectNothingLeft(all);
  });

  it('takes over the PostgreSQL of a server that was killed, and what it had confirmed', async () => {
    const killed = await started();
    process.kill(killed.server, 'SIGKILL');
    await killed.npm.ended;
    const orphans = livingOf(killed.family);
    expect(orphans.filter((command) => !/postgres/.test(command))).toEqual([]);
    const next = await started();
    expect(next.tenant).toBe(killed.tenant);
    expect(await signIn(next.tenant)).toBe(200);
    next.npm.signal('SIGTERM');
    await expectNothingLeft(next);
    await expectNothingLeft(killed);
  });
});
