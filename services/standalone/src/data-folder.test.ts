import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { FolderNotUsable, openDataFolder } from './data-folder.ts';

const path = mkdtempSync(join(tmpdir(), 'cardea-data-folder-'));
afterAll(() => rmSync(path, { recursive: true, force: true }));

describe('a data folder', () => {
  it('keeps its secrets, and the password untold until a start got as far as telling it', () => {
    const first = openDataFolder({ path });
    expect(first.greeted).toBe(false);
    first.release();
    const second = openDataFolder({ path });
    expect(second.greeted).toBe(false);
    expect(second.generated).toEqual(first.generated);
    second.markGreeted();
    second.release();
    expect(openDataFolder({ path }).greeted).toBe(true);
  });

  it('that cannot be used is one sentence with the reason', () => {
    const file = join(path, 'a-file');
    writeFileSync(file, '');
    const opening = () => openDataFolder({ path: join(file, 'below') });
    expect(opening).toThrow(FolderNotUsable);
    expect(opening).toThrow(`${file}/below cannot be used: part of its path is a file.`);
  });
});
