/** Publishes the events of authz. Private and published events have the same fields. */
import type { authzEvents } from '@cardea/contracts';
import { relay } from '@cardea/event-bus';
import type { ModelPublished } from '../models/model.ts';
import type { NoOpWriteEvent } from '../no-op-writes/no-op-write.ts';
import type { TupleEvent } from './tuple.ts';

export const authzRelay = relay<TupleEvent | NoOpWriteEvent | ModelPublished, typeof authzEvents>({
  TupleWritten: ({ data }) => ({ type: 'tuple.written', data }),
  TupleDeleted: ({ data }) => ({ type: 'tuple.deleted', data }),
  TupleWriteRepeated: ({ data }) => ({ type: 'tuple.write_repeated', data }),
  ModelPublished: ({ data: { version } }) => ({ type: 'model.published', data: { version } }),
  TupleDeleteRepeated: ({ data }) => ({ type: 'tuple.delete_repeated', data }),
});
