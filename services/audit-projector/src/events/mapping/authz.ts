/** Rows for the events of authz: relationship tuples written and deleted, and refusals. */
import type { authzEvents, DataOf } from '@cardea/contracts';
import type { Mapped, Rule } from '../audit-row.ts';
import { type ActionDenied, denied, deniedDetails, resultOf } from './denied.ts';

type Type = (typeof authzEvents)['types'][number];
type Data<Of extends Type> = DataOf<typeof authzEvents, Of>;
type Fields = Pick<
  Data<'tuple.write_repeated'>,
  'tuple_id' | 'user_type' | 'user_id' | 'relation' | 'object_type' | 'object_id'
>;
type Change = { readonly type: string; readonly action: string };

const WRITE: Change = { type: 'admin.fga.write_tuple', action: 'create' };
const DELETE: Change = { type: 'admin.fga.delete_tuple', action: 'delete' };
const PUBLISH: Change = { type: 'admin.fga.publish_model', action: 'update' };
const CHANGES: { readonly [operation: string]: Change | undefined } = {
  write_tuple: WRITE,
  delete_tuple: DELETE,
};

const tuple = (change: Change, noop: boolean): Rule<Fields> => ({
  category: 'fga',
  says: ({ data: { tuple_id, user_type, user_id, relation, object_type, object_id } }): Mapped => ({
    ...change,
    target: { type: 'tuple', id: tuple_id },
    details: {
      user_type,
      user_id,
      relation,
      object_type,
      object_id,
      ...(noop ? { noop: true } : {}),
    },
  }),
});

const refused: Rule<ActionDenied> = {
  category: 'fga',
  says: (event) => {
    const change = CHANGES[event.data.operation];
    const general = denied('fga');
    if (change === undefined) return 'skip' in general ? general : general.says(event);
    return {
      type: change.type,
      action: 'deny',
      result: resultOf(event.data.status),
      target: { type: 'tuple', id: null },
      details: deniedDetails(event.data),
    };
  },
};

export const authzRules: { readonly [Of in Type]: Rule<Data<Of>> } = {
  'tuple.written': tuple(WRITE, false),
  'tuple.deleted': tuple(DELETE, false),
  'tuple.write_repeated': tuple(WRITE, true),
  'tuple.delete_repeated': tuple(DELETE, true),
  'model.published': {
    category: 'fga',
    says: ({ data: { version } }): Mapped => ({
      ...PUBLISH,
      target: { type: 'model', id: null },
      details: { version },
    }),
  },
  'action.denied': refused,
};
