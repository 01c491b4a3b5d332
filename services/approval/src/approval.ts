/** What the slices of this service share, built once in `service.ts`. */
import type { FactCopies, ServiceNeeds } from '@cardea/service';
import type { Changes } from './requests/approval-requests/changes.ts';
import type { Counters } from './requests/counters.ts';
import type { People } from './requests/user-directory/user-directory.ts';

export type Approval = Pick<
  ServiceNeeds,
  | 'streams'
  | 'database'
  | 'positions'
  | 'sealer'
  | 'clock'
  | 'ids'
  | 'random'
  | 'log'
  | 'revocations'
  | 'command'
  | 'systemCommand'
> & {
  readonly people: People;
  readonly factCopies: Pick<FactCopies, 'user'>;
  readonly counters: Counters;
  /** Takes a token of the poll route's pace, per request. */
  readonly pace: (key: string) => Promise<boolean>;
  /** Tells open polls, here and in other processes, that a request was decided. */
  readonly changes: Changes;
};
