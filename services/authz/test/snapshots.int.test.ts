import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { processFixture } from '@cardea/testing';
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { snapshotFiles } from '../src/adapters/snapshot-files.ts';
import { TenantIndexes } from '../src/engine/tenant-indexes.ts';
import {
  finished,
  newTupleIndex,
  savedTupleIndex,
  type TupleIndex,
} from '../src/engine/tuple-index.ts';
import { type Fields, RELATIONS } from '../src/relations/relation.ts';
import { indexSnapshots } from '../src/replicas/index-snapshots.ts';

const processes = processFixture();
const folder = mkdtempSync(join(tmpdir(), 'cardea-snapshots-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => {
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
});

const KEY = Buffer.alloc(32, 7);
let ids = 0;
const nextId = () => String(++ids);
const files = snapshotFiles(folder, KEY, nextId);
const always = { basis: 'basis', isCurrent: () => true };

const grant = (user: string, relation: Fields['relation'], object: string): Fields => ({
  user_type: 'user',
  user_id: user,
  relation,
  object_type: 'document',
  object_id: object,
});
const asked = grant('ann', 'viewer', '\u{10000}');

function smallIndex(): TupleIndex {
  const index = newTupleIndex();
  for (let at = 0; at < 500; at++) index.write(grant(`user-${at}`, 'viewer', `document-${at % 9}`));
  for (let at = 0; at < 100; at++)
    index.delete(grant(`user-${at}`, 'viewer', `document-${at % 9}`));
  index.write(asked);
  return index;
}

const write = (tenant: string, index: TupleIndex, of = always) =>
  files.write(tenant, { position: 12n, saved: index.save() }, of);
const onlyFile = () => join(folder, readdirSync(folder)[0] as string);

describe('a snapshot', () => {
  it('authz 24 answers as the index that was saved, and goes on as it would', async () => {
    const node = fc.tuple(
      fc.constantFrom('user', 'group', 'folder'),
      fc.constantFrom('a', 'é', '*'),
    );
    const fields = fc.tuple(node, fc.constantFrom(...RELATIONS), node).map(
      ([subject, relation, object]): Fields => ({
        user_type: subject[0],
        user_id: subject[1],
        relation,
        object_type: object[0],
        object_id: object[1],
      }),
    );
    const changes = fc.array(fc.tuple(fc.boolean(), fields), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(changes, changes, async (before, after) => {
        const index = newTupleIndex();
        const change = (to: TupleIndex, [writes, tuple]: readonly [boolean, Fields]) =>
          writes ? to.write(tuple) : to.delete(tuple);
        for (const each of before) change(index, each);
        expect(await write('t', index)).toBe(true);
        const found = await files.read('t', 'basis');
        expect(found?.position).toBe(12n);
        const copy = savedTupleIndex((found as NonNullable<typeof found>).saved);
        for (const each of after) for (const to of [index, copy]) change(to, each);
        expect(copy.size).toBe(index.size);
        for (const [, tuple] of [...before, ...after]) {
          expect(finished(copy.explain(tuple))).toEqual(finished(index.explain(tuple)));
          expect(finished(copy.listUsers(tuple))).toEqual(finished(index.listUsers(tuple)));
        }
      }),
      { numRuns: 100 },
    );
  });

  it('authz 24 is readable by its owner alone, and leaves nothing else', async () => {
    await write('t', smallIndex());
    expect(readdirSync(folder)).toHaveLength(1);
    expect(statSync(onlyFile()).mode & 0o777).toBe(0o600);
  });

  it('authz 24 is not written where the index changed meanwhile', async () => {
    let looks = 0;
    const changing = { basis: 'basis', isCurrent: () => ++looks < 4 };
    expect(await write('t', smallIndex(), changing)).toBe(false);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('authz 24 is ignored and removed wherever it is torn', async () => {
    await write('t', smallIndex());
    const whole = readFileSync(onlyFile());
    for (const length of [
      0,
      1,
      16,
      20,
      100,
      whole.length >> 1,
      whole.length - 33,
      whole.length - 1,
    ]) {
      writeFileSync(onlyFile(), whole.subarray(0, length));
      expect(await files.read('t', 'basis')).toBeUndefined();
      expect(readdirSync(folder)).toEqual([]);
      await write('t', smallIndex());
    }
  });

  it('authz 24 is ignored where any byte was changed', async () => {
    await write('t', smallIndex());
    const whole = readFileSync(onlyFile());
    const path = onlyFile();
    const step = Math.ceil(whole.length / 200);
    for (let at = 0; at < whole.length; at += step) {
      const forged = Buffer.from(whole);
      forged[at] = (forged[at] as number) ^ 1;
      writeFileSync(path, forged);
      expect(await files.read('t', 'basis')).toBeUndefined();
    }
    writeFileSync(path, whole);
    expect(await files.read('t', 'basis')).toBeDefined();
  });

  it.each([
    { of: 'another tenant', read: () => files.read('u', 'basis'), as: 'u' },
    { of: 'another log, table or parked stream', read: () => files.read('t', 'other'), as: 't' },
    {
      of: 'another deployment',
      read: () => snapshotFiles(folder, Buffer.alloc(32, 8), nextId).read('t', 'basis'),
      as: 't',
    },
  ])('authz 24 of $of is ignored', async ({ read, as }) => {
    await write('t', smallIndex());
    const foreign = readFileSync(onlyFile());
    await write(as, smallIndex());
    for (const name of readdirSync(folder)) writeFileSync(join(folder, name), foreign);
    expect(await read()).toBeUndefined();
  });

  it('authz 24 that a killed process was writing is as if it were not there', async () => {
    await write('t', smallIndex());
    const writer = await processes.start({
      name: 'writer',
      script: fileURLToPath(new URL('./snapshot-writer.process.ts', import.meta.url)),
      args: [folder, KEY.toString('hex')],
    });
    expect(await writer.ended).toBe('SIGKILL');
    expect(readdirSync(folder)).toHaveLength(2);
    const found = await files.read('t', 'basis');
    expect(found?.saved.state.records.count).toBe(401);
    await files.tidy();
    expect(readdirSync(folder)).toHaveLength(1);
  });
});

describe('a tenant of many tuples', () => {
  const many = newTupleIndex();
  for (let at = 0; at <= 50_000; at++) many.write(grant(`user-${at}`, 'viewer', `document-${at}`));
  many.write(asked);

  /** The state of a process: its log is at a position, and its table has the tuples. */
  function world({ head = 100n, parked = new Set<string>() } = {}) {
    let nowMs = 0;
    let tableReads = 0;
    const followed = { position: head };
    const tenants: TenantIndexes = new TenantIndexes({
      changeOf: ({ streamId }) => ({ kind: 'write', tuple: grant('new', 'viewer', streamId) }),
      sizeOf: async () => ({ tuples: many.size, hasModel: false }),
      load: async (tenantId, atLeast) => {
        const saved = await snapshots.load(tenantId, atLeast);
        if (saved !== undefined) return saved;
        tableReads++;
        return { index: savedTupleIndex(structuredClone(many.save())), position: head, parked };
      },
      eventsBetween: async function* () {},
      position: () => followed.position,
      monotonicMs: () => nowMs,
      bytesMax: Number.POSITIVE_INFINITY,
    });
    const snapshots = indexSnapshots({
      files,
      tenants: () => tenants,
      basis: async () => ({ text: `epoch${[...parked]}`, parked }),
      head: async () => head,
      clock: { monotonicMs: () => nowMs } as never,
      log: { warn: () => {} } as never,
    });
    return {
      tenants,
      snapshots,
      reads: () => tableReads,
      pass: (ms: number) => {
        nowMs += ms;
      },
      loaded: async () => {
        await tenants.get('t');
        while (tenants.loaded('t') === undefined) await new Promise((done) => setImmediate(done));
        return tenants.loaded('t')?.index as TupleIndex;
      },
    };
  }

  it('authz 24 is read from its file by the next process, and not from the table', async () => {
    const first = world();
    await first.loaded();
    await first.snapshots.stop();
    expect(readdirSync(folder)).toHaveLength(1);

    const next = world();
    const index = await next.loaded();
    expect(next.reads()).toBe(0);
    expect(index.size).toBe(many.size);
    expect(finished(index.check(asked)).allowed).toBe(true);
    expect(next.tenants.unsaved(0)).toEqual([]);
  });

  it('authz 24 is read from the table where the log was cut, or another stream is parked', async () => {
    const first = world();
    await first.loaded();
    await first.snapshots.stop();
    const cut = world({ head: 99n });
    await cut.loaded();
    expect(cut.reads()).toBe(1);
    const parked = world({ parked: new Set(['tuple-x']) });
    await parked.loaded();
    expect(parked.reads()).toBe(1);
  });

  it('is unsaved once it has changed, and is not written before it was quiet for a while', async () => {
    const { tenants, loaded, pass } = world();
    await loaded();
    pass(60_000);
    const [before] = tenants.unsaved(60_000);
    const metadata = { tenantId: 't', actor: { type: 'system', id: 'test' } };
    tenants.apply([{ position: 101n, streamId: 'd', metadata } as never]);
    expect(before?.isCurrent()).toBe(false);
    expect(tenants.unsaved(60_000)).toEqual([]);
    pass(60_000);
    expect(tenants.unsaved(60_000)).toHaveLength(1);
  });
});
