/** The stream of removals from a tenant's log because of its retention. */
import { accept, type Decision, type Stream } from '@cardea/event-store';

export type Retention = { readonly before: string } | null;

export type RetentionApplied = {
  readonly type: 'RetentionApplied';
  readonly data: {
    /** Rows before this time were removed. */
    readonly before: string;
    readonly rows: number;
  };
};

export const retentions: Stream<Retention, RetentionApplied> = {
  noun: 'retention',
  initial: null,
  stateCarrying: true,
  evolve: (_before, { data }) => ({ before: data.before }),
};

/** A removal is published once, even if publishing was interrupted and starts again. */
export const applyRetention = (
  removed: RetentionApplied['data'],
  last: Retention,
): Decision<RetentionApplied, never> =>
  last?.before === removed.before ? accept() : accept({ type: 'RetentionApplied', data: removed });
