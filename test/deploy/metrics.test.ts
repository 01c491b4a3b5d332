/** Tests that every series of Cardea's own is named where operators look for it. */
import { globSync, readFileSync } from 'node:fs';
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
    .filter((name) => !/^(?:process|nodejs)_/.test(name)); // Excludes the default metrics of prom-client.
  expect(known.length).toBeGreaterThan(30);
  expect(known.filter((name) => !listed.includes(name))).toEqual([]);
  expect(listed.filter((name) => !known.includes(name))).toEqual([]);
});

/** Passes a mail to the transport, or a message to a third-party address. */
const SENDS = /\b(?:mail|transport)\.send\(|\boutbound\.send\(/;
/** Files that count in a separate series, send no notice, or pass on what another file sends. */
const COUNTED_ELSEWHERE: readonly string[] = [
  'services/approval/src/channels/delivery/channel-sender.ts',
  'services/identity/src/oauth/client-documents/client-documents.ts',
  'services/webhook-dispatcher/src/deliveries/deliver/send.ts',
];

it('whatever sends a mail or a message counts it in `notices_total`', () => {
  const senders = globSync('services/*/src/**/*.ts').filter(
    (file) => !file.endsWith('.test.ts') && SENDS.test(readFileSync(file, 'utf8')),
  );
  expect(senders.length).toBeGreaterThan(2);
  const uncounted = senders.filter(
    (file) => !readFileSync(file, 'utf8').includes('metrics.notices.inc('),
  );
  expect(uncounted.toSorted()).toEqual(COUNTED_ELSEWHERE);
});
