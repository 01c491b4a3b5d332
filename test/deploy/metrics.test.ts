/** Every series of Cardea's own is named where operators look for it. */
import { readFileSync } from 'node:fs';
import { loops, measureProcess, metrics, systemClock } from '@cardea/runtime';
import { expect, it } from 'vitest';

it('each metric is in docs/design/operations.md, and it names none that there is not', async () => {
  measureProcess({ version: '0', loops: loops(systemClock), clock: systemClock });
  const [, section = ''] =
    /^## Metrics, traces, logs$([\s\S]*?)^## /m.exec(
      readFileSync('docs/design/operations.md', 'utf8'),
    ) ?? [];
  const rows = section.split('\n').filter((line) => line.startsWith('|'));
  const listed = rows.flatMap((row) =>
    [...row.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name),
  );
  const known = (await metrics.registry.getMetricsAsJSON())
    .map(({ name }) => name)
    .filter((name) => name.startsWith('cardea_'))
    .map((name) => name.slice('cardea_'.length))
    .filter((name) => !/^(?:process|nodejs)_/.test(name)); // prom-client's defaults
  expect(known.length).toBeGreaterThan(30);
  expect(known.filter((name) => !listed.includes(name))).toEqual([]);
  expect(listed.filter((name) => !known.includes(name))).toEqual([]);
});
