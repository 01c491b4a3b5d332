/** Checks the topic of tuples after mixed writes, whatever was killed in the meantime. */
import type { IntegrationEvent } from '@cardea/contracts';
import { expect } from 'vitest';
import type { Load } from './writes.ts';

/** The number of acknowledged tuples that have no event on the topic. */
export function tuplesMissing(load: Load, events: readonly IntegrationEvent[]): number {
  const told = new Set(events.map(({ data }) => data['object_id']));
  return load.acked.read().acked.filter(({ kind, name }) => kind === 'tuple' && !told.has(name))
    .length;
}

/** Expects that within a partition the positions of a stream only rise, except for repeats. */
export function expectInOrder(events: readonly IntegrationEvent[]): void {
  const highest = new Map<string, bigint>();
  const ids = new Set<string>();
  for (const { id, streamId, position } of events) {
    if (ids.has(id)) continue;
    ids.add(id);
    expect(BigInt(position)).toBeGreaterThan(highest.get(streamId) ?? 0n);
    highest.set(streamId, BigInt(position));
  }
}
