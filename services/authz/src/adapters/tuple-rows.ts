/** The table `tuples`, which the projection writes, and which lists and answers read. */
import { orNull, table } from '@cardea/read-models';

export const tupleRows = table('tuples', {
  key: ['key'],
  columns: {
    key: 'bytea',
    tenant_id: 'text',
    position: 'bigint',
    id: 'uuid',
    created_at: 'timestamptz',
    relation: 'smallint',
    own_relation: orNull('text'),
    user_type: 'text',
    user_id: 'text',
    object_type: 'text',
    object_id: 'text',
    subject_key: 'uuid',
    object_key: 'uuid',
    object_wild: 'uuid',
  },
});
