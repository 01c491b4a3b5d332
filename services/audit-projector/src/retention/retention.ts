/** The stream of what was removed from a tenant's log because it was older than the tenant's retention. */
import { accept, type Decision, type Stream } from '@cardea/event-store';

export type Retention = { readonly before: string } | null;

export type RetentionApplied = {
  readonly type: 'RetentionApplied';
  readonly data: {
    /** Rows of an earlier time are gone. */
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

/** A removal is published once, also where publishing was interrupted and begins again. */
export const applyRetention = (
  removed: RetentionApplied['data'],
  last: Retention,
): Decision<RetentionApplied, never> =>
  last?.before === removed.before ? accept() : accept({ type: 'RetentionApplied', data: removed });
