import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ackedSet } from './acked-set.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cardea-acked-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

it('tells acked, refused and unknown writes apart, also after a restart', async () => {
  const file = join(folder, 'set.jsonl');
  const set = ackedSet<string>(file);
  await set.send('made', async () => 201);
  await set.send('refused', async () => 409);
  await set.send('failed', async () => 503);
  await set.send('cut', async () => {
    throw new Error('reset');
  });
  appendFileSync(file, '{"n":9,"wri'); // Simulates a kill in the middle of writing a record.
  expect(ackedSet<string>(file).read()).toEqual({
    acked: ['made'],
    refused: ['refused'],
    unknown: ['failed', 'cut'],
  });
});
