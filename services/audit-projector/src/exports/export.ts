/** Someone exported a part of the audit log: how many rows, and by which filters. */
import type { Stream } from '@cardea/event-store';

export type ExportMade = {
  readonly type: 'ExportMade';
  readonly data: {
    readonly format: 'csv';
    readonly rows: number;
    /** Names of the filters, never their values. */
    readonly filters: readonly string[];
  };
};

export const exports: Stream<null, ExportMade> = {
  noun: 'export',
  initial: null,
  evolve: () => null,
};
