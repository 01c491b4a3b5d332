import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openDataFolder } from './data-folder.ts';

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
});
