/** Tests that each key in the shared cache belongs to a family, whose number of keys is bounded. */
import { globSync, readFileSync } from 'node:fs';
import { CACHE_FAMILIES } from '@cardea/service';
import { describe, expect, it } from 'vitest';

const WRITES =
  /\bcache\s*\.(?:set|setMany|setIfAbsent|increment|takeToken|raise)\(|redis\.set\(named\(/;
/** The adapter itself, whose own writes belong to no family. */
const ADAPTERS = ['packages/runtime/src/cache/in-process-cache.ts'];
const WEEK_MS = 7 * 24 * 3_600_000;
/** Families whose number of keys does not depend on requests. */
const SINGLE = /^(one|one for each log)$/;

const files = ['packages', 'services'].flatMap((folder) =>
  globSync(`${folder}/*/src/**/*.ts`, {
    exclude: (path) => /node_modules|\.test\.ts$|\.worker\.ts$/.test(String(path)),
  }),
);
const writers = files
  .filter((file) => !ADAPTERS.includes(file) && !file.startsWith('packages/testing/'))
  .filter((file) => WRITES.test(readFileSync(file, 'utf8')))
  .sort();

describe('H2 the shared cache', () => {
  it('H2 is written by those alone whose keys are listed with their bound', () => {
    const listed = new Set(CACHE_FAMILIES.flatMap((family) => family.writers));
    expect(writers).toEqual([...listed].sort());
  });

  it('H2 keeps for ever only what no request can multiply', () => {
    for (const { pattern, lifeMs, number } of CACHE_FAMILIES) {
      if (lifeMs === undefined)
        expect([pattern, number]).toEqual([pattern, expect.stringMatching(SINGLE)]);
      expect(number).not.toBe('');
    }
  });

  it('H2 evicts what ends soonest, and in no deployment refuses or evicts what has no end', () => {
    for (const file of ['docker-compose.yml', 'deploy/compose.compartments.yaml']) {
      const text = readFileSync(file, 'utf8');
      expect(text).toMatch(/maxmemory-policy[\s,]+volatile-ttl/);
      expect(text).toMatch(/maxmemory[\s,]+\d+mb/);
    }
    for (const { lifeMs = 0 } of CACHE_FAMILIES) expect(lifeMs).toBeLessThanOrEqual(WEEK_MS);
  });
});
