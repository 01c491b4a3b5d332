/** An export of a part of the audit log: its number of rows and the names of its filters. */
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
