import { fakeClock, secret } from '@cardea/runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wrapKeys } from './derive.ts';
import { Tampered } from './envelope.ts';
import { UnknownWrapKey } from './rewrap.ts';
import { type FieldLocation, neverErased, type Sealer, type SubjectKeyRow } from './sealed.ts';
import { inMemorySubjectKeys, sealer } from './sealer.ts';

const OLD = 'aa11'.repeat(16);
const NEW = 'bb22'.repeat(16);
const clock = fakeClock(new Date(0));
const of = (table: ReturnType<typeof inMemorySubjectKeys>, current = OLD, previous?: string) =>
  sealer({
    table,
    clock,
    keys: wrapKeys(
      {
        ENCRYPTION_KEY: secret(current),
        ENCRYPTION_KEY_PREVIOUS: previous === undefined ? undefined : secret(previous),
      },
      'subject-wrap/v1',
    ),
  });
const sealedBy = async (fields: Sealer, at: FieldLocation, value: string) =>
  neverErased(await fields.seal('t1', at, value));
const place = { subject: 'user:1', streamId: 'user-1', field: 'email' };

describe('a sealed field', () => {
  it('opens where it was sealed, in every process that has the secret', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 200 }), async (value) => {
        const table = inMemorySubjectKeys();
        const sealed = await sealedBy(of(table), place, value);
        expect(await of(table).open(sealed, place)).toBe(value);
      }),
    );
  });

  it('S16 cannot be moved to another stream, field or subject, nor be changed', async () => {
    const fields = of(inMemorySubjectKeys());
    const sealed = await sealedBy(fields, place, 'ann@example.com');
    await fields.seal('t1', { ...place, subject: 'user:2' }, 'bob@example.com');
    const refused = (promise: Promise<unknown>) => expect(promise).rejects.toThrow(Tampered);
    await refused(fields.open(sealed, { ...place, streamId: 'user-2' }));
    await refused(fields.open(sealed, { ...place, field: 'name' }));
    await refused(fields.open({ ...sealed, subject: 'user:2' }, place));
    for (let at = 0; at < sealed.box.length; at += 1) {
      const letter = sealed.box[at] === 'A' ? 'B' : 'A';
      const box = sealed.box.slice(0, at) + letter + sealed.box.slice(at + 1);
      await refused(fields.open({ ...sealed, box }, place));
    }
  });

  it('S16 does not open with the key row of another subject or tenant', async () => {
    const table = inMemorySubjectKeys();
    const sealed = await sealedBy(of(table), place, 'ann');
    await of(table).seal('t2', { ...place, subject: 'user:2' }, 'bob');
    const [ann, bob] = [table.rows.get('user:1'), table.rows.get('user:2')];
    if (ann === undefined || bob === undefined) throw new Error('no rows');
    table.rows.set('user:1', { ...bob, subjectId: 'user:1' });
    await expect(of(table).open(sealed, place)).rejects.toThrow(Tampered);
    table.rows.set('user:1', { ...ann, tenantId: 't2' });
    await expect(of(table).open(sealed, place)).rejects.toThrow(Tampered);
  });

  it('is gone for ever once its subject is erased, also for a late event', async () => {
    const table = inMemorySubjectKeys();
    const fields = of(table);
    const sealed = await sealedBy(fields, place, 'ann');
    expect(await fields.open(sealed, place)).toBe('ann');
    await fields.erase('user:1');
    await fields.erase('user:1');
    expect(await fields.open(sealed, place)).toBeNull();
    expect(await of(table).open(sealed, place)).toBeNull();
    expect(await fields.seal('t1', place, 'again')).toBe('erased');
    await fields.erase('user:9');
    expect(await fields.seal('t1', { ...place, subject: 'user:9' }, 'x')).toBe('erased');
  });

  it('is gone with its tenant, but for network addresses, and with no other tenant', async () => {
    const table = inMemorySubjectKeys();
    const fields = of(table);
    const context = { ...place, subject: 'context:t1:2026-01-01' };
    const other = { ...place, subject: 'user:2' };
    const ann = await sealedBy(fields, place, 'ann');
    const ip = await sealedBy(fields, context, '::1');
    const bob = neverErased(await fields.seal('t2', other, 'bob'));
    await fields.eraseTenant('t1');
    await fields.eraseTenant('t1');
    expect(await fields.open(ann, place)).toBeNull();
    expect(await fields.open(ip, place)).toBe('::1');
    expect(await fields.open(bob, place)).toBe('bob');
    expect(await fields.seal('t1', place, 'again')).toBe('erased');
  });

  it('that another process erased is unreadable here within a minute', async () => {
    const table = inMemorySubjectKeys();
    const here = of(table);
    const sealed = await sealedBy(here, place, 'ann');
    await of(table).erase('user:1');
    await clock.advance(60_000);
    expect(await here.open(sealed, place)).toBeNull();
  });

  it('has one key however many writers come first at once', async () => {
    const table = inMemorySubjectKeys();
    const processes = [of(table), of(table)];
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        sealedBy(processes[n % 2] ?? of(table), place, String(n)),
      ),
    );
    const fresh = of(table);
    for (const [n, sealed] of all.entries()) {
      expect(await fresh.open(sealed, place)).toBe(String(n));
    }
  });

  it('asks the table once for the key of a new subject', async () => {
    const table = inMemorySubjectKeys();
    const asked: string[] = [];
    const watched = {
      ...table,
      read: (subject: string) => {
        asked.push('read');
        return table.read(subject);
      },
      insertIfAbsent: (row: SubjectKeyRow) => {
        asked.push('insert');
        return table.insertIfAbsent(row);
      },
    };
    await sealedBy(of(watched), place, 'ann@example.com');
    expect(asked).toEqual(['insert']);
  });

  it('S16 is read under the previous ENCRYPTION_KEY, and not without it', async () => {
    const table = inMemorySubjectKeys();
    const sealed = await sealedBy(of(table, OLD), place, 'ann');
    expect(await of(table, NEW, OLD).open(sealed, place)).toBe('ann');
    await expect(of(table, NEW).open(sealed, place)).rejects.toThrow(UnknownWrapKey);
  });

  it('that cannot be read now can be read later: a failure is not remembered', async () => {
    const table = inMemorySubjectKeys();
    const sealed = await sealedBy(of(table), place, 'ann');
    let down = true;
    const read = async (subject: string) => {
      if (down) throw new Error('away');
      return table.rows.get(subject);
    };
    const fields = of({ ...table, read });
    await expect(fields.open(sealed, place)).rejects.toThrow('away');
    down = false;
    expect(await fields.open(sealed, place)).toBe('ann');
  });
});

describe('an index hash', () => {
  it('depends on tenant and parts, and survives a change of the ENCRYPTION_KEY', async () => {
    const table = inMemorySubjectKeys();
    const hash = await of(table, OLD).indexHash({ tenantId: 't1' }, 'email', 'ann@example.com');
    expect(hash).toMatch(/^[0-9a-f]{32}$/);
    const later = of(table, NEW, OLD);
    expect(await later.indexHash({ tenantId: 't1' }, 'email', 'ann@example.com')).toBe(hash);
    for (const other of [
      later.indexHash({ tenantId: 't2' }, 'email', 'ann@example.com'),
      later.indexHash('deployment', 'email', 'ann@example.com'),
      later.indexHash({ tenantId: 't1' }, 'emailann', '@example.com'),
    ]) {
      expect(await other).not.toBe(hash);
    }
  });
});
