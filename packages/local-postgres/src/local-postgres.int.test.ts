import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalPostgres, startLocalPostgres } from './local-postgres.ts';
import { serverOf } from './server-process.ts';

const PASSWORD = 'a password of & odd / signs';
let parent: string;
let first: LocalPostgres;
const dataFolder = () => join(parent, 'postgres');
const start = (password = PASSWORD) => startLocalPostgres({ dataFolder: dataFolder(), password });

beforeAll(async () => {
  // A mkdtemp folder has mode 0700, so the server's own user cannot enter root's folder.
  parent = mkdtempSync(join(tmpdir(), 'cardea-local-postgres-'));
  first = await start();
});
afterAll(() => {
  first.stop({ remove: true });
  rmSync(parent, { recursive: true, force: true });
});

async function ask(
  server: LocalPostgres,
  sql: string,
  connectionString = server.connectionString(),
): Promise<unknown[]> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return (await client.query({ text: sql, rowMode: 'array' })).rows.flat();
  } finally {
    await client.end();
  }
}
const refuses = (server: LocalPostgres) =>
  expect(ask(server, 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });

describe('a local PostgreSQL', () => {
  it('keeps what is committed, checks its pages, and is reachable on this machine only', async () => {
    const settings = [];
    for (const name of [
      'fsync',
      'data_checksums',
      'listen_addresses',
      'unix_socket_directories',
      'max_connections',
    ]) {
      settings.push(...(await ask(first, `SHOW ${name}`)));
    }
    expect(settings).toEqual(['on', 'on', '127.0.0.1', first.folder, '200']);
  });

  it('answers through its socket, whose folder only its user can enter', async () => {
    const address = 'SELECT host(inet_server_addr())';
    expect(await ask(first, address)).toEqual(['127.0.0.1']);
    expect(await ask(first, address, first.socketConnectionString())).toEqual([null]);
    expect(statSync(first.folder).mode & 0o077).toBe(0);
    const wrong = first.socketConnectionString().replace(encodeURIComponent(PASSWORD), 'wrong');
    await expect(ask(first, address, wrong)).rejects.toMatchObject({ code: '28P01' });
  });

  it('is reachable by TCP alone if the path of a socket in its folder would be too long', async () => {
    // The server's own user can enter it, so that the cluster of root is in it, too.
    const open = mkdtempSync(join(tmpdir(), 'cardea-local-postgres-'));
    chmodSync(open, 0o755);
    const dataFolder = join(open, 'a'.repeat(100));
    const server = await startLocalPostgres({ dataFolder, password: PASSWORD });
    try {
      expect(server.folder).toBe(dataFolder);
      expect(server.socketConnectionString()).toBe(server.connectionString());
      expect(await ask(server, 'SHOW unix_socket_directories')).toEqual(['']);
    } finally {
      server.stop();
      rmSync(open, { recursive: true, force: true });
    }
  });

  it('is adopted by a second start while it runs', async () => {
    const second = await start();
    expect(second.pid).toBe(first.pid);
    expect(second.port).toBe(first.port);
    expect(second.socketConnectionString()).toBe(first.socketConnectionString());
  });

  it('is gone when stop returns, and comes back with its data on its port', async () => {
    await ask(first, 'CREATE TABLE kept (n int)');
    await ask(first, 'INSERT INTO kept VALUES (7)');
    first.stop();
    await refuses(first);
    const second = await start();
    expect(second.pid).not.toBe(first.pid);
    expect(second.port).toBe(first.port);
    expect(await ask(second, 'SELECT n FROM kept')).toEqual([7]);
    first = second;
  });

  it('is stopped and refused when the cluster does not take the password', async () => {
    await expect(start('another')).rejects.toMatchObject({ code: 'wrong_password' });
    await refuses(first);
    first = await start();
  });

  it('starts afresh where its folder was deleted', async () => {
    const inside = join(parent, 'deleted');
    const options = { dataFolder: join(inside, 'postgres') };
    const before = await startLocalPostgres({ ...options, password: PASSWORD });
    await ask(before, 'CREATE TABLE kept (n int)');
    before.stop();
    rmSync(inside, { recursive: true });
    const after = await startLocalPostgres({ ...options, password: 'made anew' });
    expect(await ask(after, `SELECT to_regclass('kept')::text`)).toEqual([null]);
    after.stop({ remove: true });
    rmSync(before.folder, { recursive: true, force: true });
  });

  it('does not outlive a process that ends before it is ready', () => {
    const asked = join(parent, 'hurried');
    const elsewhere = join(asked, 'kept-elsewhere');
    const hurried = `
      import { existsSync, readFileSync } from 'node:fs';
      import { startLocalPostgres } from '${new URL('local-postgres.ts', import.meta.url)}';
      const [dataFolder, elsewhere] = process.argv.slice(1);
      void startLocalPostgres({ dataFolder, password: 'x' });
      setInterval(() => {
        const folder = existsSync(elsewhere)
          ? '/var/lib/cardea/' + readFileSync(elsewhere, 'utf8').trim()
          : dataFolder;
        if (!existsSync(folder + '/postmaster.pid')) return;
        process.stdout.write(folder);
        process.exit(0);
      }, 1);`;
    const { stdout } = spawnSync(
      process.execPath,
      ['--input-type=module', '-e', hurried, asked, elsewhere],
      { encoding: 'utf8' },
    );
    expect(stdout).toMatch(/\/hurried$|^\/var\/lib\/cardea\//);
    expect(serverOf(stdout)).toBeUndefined();
    rmSync(stdout, { recursive: true, force: true });
  });

  it('recovers from kill -9 of its own process', async () => {
    await ask(first, 'INSERT INTO kept VALUES (8)');
    process.kill(first.pid, 'SIGKILL');
    first = await start();
    expect(await ask(first, 'SELECT n FROM kept ORDER BY n')).toEqual([7, 8]);
  });

  it('refuses a folder that another major version wrote', async () => {
    first.stop();
    const versionFile = join(first.folder, 'PG_VERSION');
    writeFileSync(versionFile, '17\n');
    await expect(start()).rejects.toMatchObject({ code: 'other_version' });
    writeFileSync(versionFile, '18\n');
    first = await start();
  });
});
