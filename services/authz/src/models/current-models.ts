/** Caches the models of tenants whose tuples are written here, until the log reports a change. */
import type { Streams } from '@cardea/event-store';
import { type Fields, isBuiltIn, WILDCARD } from '../relations/relation.ts';
import { type Model, models } from './model.ts';

/** The maximum number of cached tenants. If there are more, the oldest are dropped and loaded again when needed. */
const MODELS_MAX = 10_000;

export type CurrentModels = {
  readonly of: (tenantId: string) => Promise<Model>;
  /** Call it when an event of the tenant's model was seen. */
  readonly changed: (tenantId: string) => void;
};

export function currentModels(streams: Streams): CurrentModels {
  const known = new Map<string, Model>();
  let changes = 0;
  return {
    of: async (tenantId) => {
      const found = known.get(tenantId);
      if (found !== undefined) return found;
      const before = changes;
      const { state } = await streams.load(models, { tenantId, id: tenantId });
      // The state may miss a change that was reported during the load, so it is not cached.
      if (before !== changes) return state;
      known.set(tenantId, state);
      const [oldest] = known.keys();
      if (known.size > MODELS_MAX && oldest !== undefined) known.delete(oldest);
      return state;
    },
    changed: (tenantId) => {
      changes += 1;
      known.delete(tenantId);
    },
  };
}

/** Tuples that an earlier model allowed can still be deleted. */
export const deletionFaultOf = ({ version }: Model, { relation }: Fields): string | undefined =>
  version > 0 || isBuiltIn(relation) ? undefined : 'enum';

/** Returns the fault of a tuple, or undefined if the model allows it. */
export function faultOf({ version, types }: Model, fields: Fields): string | undefined {
  if (version === 0) return isBuiltIn(fields.relation) ? undefined : 'enum';
  const relations = Object.hasOwn(types, fields.object_type)
    ? (types[fields.object_type]?.relations ?? {})
    : {};
  const { user_type, user_id, relation } = fields;
  const entry = user_id === WILDCARD ? `${user_type}:${WILDCARD}` : user_type;
  const isTaken = Object.entries(relations).some(
    ([name, { of = name, direct = [] }]) => of === relation && direct.includes(entry),
  );
  return isTaken ? undefined : 'model';
}
