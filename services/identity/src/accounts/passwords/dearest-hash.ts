/** The most expensive hash that users of a tenant were imported with. Its cost only rises. */
import { accept, type Decision, type Stream } from '@cardea/event-store';
import type { HashCost } from '../../adapters/hash-cost.ts';

export type DearestHash = { readonly status: 'none' } | ({ readonly status: 'known' } & HashCost);

export type DearestHashEvent = {
  readonly type: 'DearestHashRaised';
  readonly concerns?: never;
  /** `sample`: the parameters, as a hash that no password fits. */
  readonly data: { readonly sample: string; readonly work_ms: number };
};

export const dearestHashes: Stream<DearestHash, DearestHashEvent> = {
  noun: 'dearesthash',
  initial: { status: 'none' },
  stateCarrying: true,
  evolve: (_before, { data }) => ({ status: 'known', sample: data.sample, workMs: data.work_ms }),
};

export const isDearer = ({ workMs }: HashCost, than: DearestHash): boolean =>
  than.status === 'none' || workMs > than.workMs;

export function raiseDearestHash(
  cost: HashCost,
  dearest: DearestHash,
): Decision<DearestHashEvent, never> {
  if (!isDearer(cost, dearest)) return accept();
  return accept({
    type: 'DearestHashRaised',
    data: { sample: cost.sample, work_ms: cost.workMs },
  });
}
