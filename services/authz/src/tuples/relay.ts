/** What the other services and the world hear of authz. Refusals are mapped before this is asked. */
import type { authzEvents } from '@cardea/contracts';
import type { RelayMapper } from '@cardea/event-bus';

type Published = keyof (typeof authzEvents)['declared'];

const PUBLISHED: { readonly [type: string]: Published } = {
  TupleWritten: 'tuple.written',
  TupleDeleted: 'tuple.deleted',
  TupleWriteRepeated: 'tuple.write_repeated',
  TupleDeleteRepeated: 'tuple.delete_repeated',
};

/** Private and published events carry the same fields; only the names differ. */
export const mapAuthzEvent: RelayMapper = ({ type, data }) => {
  const published = PUBLISHED[type];
  return published === undefined ? undefined : { type: published, data };
};
