/** Programs between a process and PostgreSQL: the real PgBouncer is refused at the start, a proxy is not. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { refuseSharedSessions, SharedSessions } from '@cardea/read-models';
import { freePort, programOf, tcpProxy, testDatabase, untilTrue } from '@cardea/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const MAIN = programOf(new URL('../src/main.ts', import.meta.url));
const EXIT_CONFIGURATION = 78;
const START_MS_MAX = 120_000;
const HOST = '127.0.0.1';

const database = testDatabase();
const isThere = await promisify(execFile)('pgbouncer', ['--version']).then(
  () => true,
  () => false,
);
let folder: string;
let pooler: ChildProcess | undefined;
beforeEach((context) => {
  if (!isThere && /PgBouncer|start/.test(context.task.name)) context.skip('pgbouncer is missing');
  folder = mkdtempSync(join(tmpdir(), 'cardea-pooler-'));
  chmodSync(folder, 0o755);
});
afterEach(async () => {
  const ended = pooler && new Promise((resolve) => pooler?.once('exit', resolve));
  pooler?.kill('SIGKILL');
  await ended;
  pooler = undefined;
  rmSync(folder, { recursive: true, force: true });
});

/** Starts it and returns its address when it accepts connections. */
async function pgBouncer(...lines: readonly string[]): Promise<string> {
  const url = new URL(database.url);
  const name = url.pathname.slice(1);
  const port = await freePort();
  const to = { host: HOST, port: url.port, dbname: name, user: url.username };
  const target = Object.entries({ ...to, password: decodeURIComponent(url.password) });
  const file = join(folder, 'pgbouncer.ini');
  const settings = [
    '[databases]',
    `${name} = ${target.map(([key, value]) => `${key}=${value}`).join(' ')}`,
    '[pgbouncer]',
    ...[`listen_addr = ${HOST}`, `listen_port = ${port}`, 'auth_type = any', 'unix_socket_dir ='],
    ...lines,
  ];
  writeFileSync(file, `${settings.join('\n')}\n`, { mode: 0o644 });
  // PgBouncer does not run as root.
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  pooler = spawn('pgbouncer', [...user, file], { stdio: 'ignore' });
  await untilTrue(
    () =>
      new Promise<boolean>((resolve) => {
        const socket = connect(port, HOST, () => resolve(true));
        socket.once('error', () => resolve(false));
        socket.once('connect', () => socket.destroy());
      }),
  );
  url.host = `${HOST}:${port}`;
  return url.href;
}

const DROPS = 'ignore_startup_parameters = options,extra_float_digits';
const MODES: readonly (readonly [string, readonly string[]])[] = [
  ['transaction mode', ['pool_mode = transaction']],
  ['transaction mode and drops options', ['pool_mode = transaction', DROPS]],
  ['statement mode and drops options', ['pool_mode = statement', DROPS]],
  ['session mode and drops options', ['pool_mode = session', DROPS]],
  ['session mode and refuses options', ['pool_mode = session']],
];

describe('a database behind something', () => {
  it('is taken where each connection has a session of its own', async () => {
    expect(await refuseSharedSessions(database.url)).toBe(true);
    const proxy = await tcpProxy({ port: Number(new URL(database.url).port) });
    const behind = new URL(database.url);
    behind.host = `${HOST}:${proxy.port}`;
    expect(await refuseSharedSessions(behind.href)).toBe(true);
    await proxy.close();
    expect(await refuseSharedSessions(behind.href)).toBe(false);
  });

  it.each(MODES)('is refused behind PgBouncer in %s', async (_mode, lines) => {
    const url = await pgBouncer(...lines);
    await expect(refuseSharedSessions(url)).rejects.toThrow(SharedSessions);
  });

  it.each([
    ['DATABASE_URL', ['pool_mode = transaction', DROPS]],
    ['DATABASE_URL', ['pool_mode = session', DROPS]],
    ['DATABASE_URL', ['pool_mode = session']],
    ['MIGRATION_DATABASE_URL', ['pool_mode = session']],
  ])(
    'ends the start with one sentence that names %s, at %j',
    {
      timeout: START_MS_MAX,
    },
    async (setting, lines) => {
      const url = await pgBouncer(...lines);
      const ended = await promisify(execFile)(process.execPath, [MAIN, '--temp'], {
        env: {
          PATH: process.env['PATH'] ?? '',
          CARDEA_DATA: folder,
          DATABASE_URL: database.url,
          [setting]: url,
        },
      }).then(
        () => ({ code: 0, stderr: '' }),
        (error: { code: number; stderr: string }) => error,
      );
      expect([ended.code, ended.stderr.trim().split('\n')]).toEqual([
        EXIT_CONFIGURATION,
        [expect.stringMatching(new RegExp(`^(.*: )?${setting} leads to a pooler`))],
      ]);
    },
  );
});
