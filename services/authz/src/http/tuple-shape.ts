/** A tuple and its fields as clients write and see them (`docs/contract.md` 2.7, 4.3). */
import { documented, exactText, named, Time } from '@cardea/contracts';
import Type from 'typebox';
import { RELATIONS, type Relation, WILDCARD } from '../relations/relation.ts';

const TYPE_BYTES_MAX = 256;
const ID_BYTES_MAX = 1_024;
/** Control characters would be invisible in logs and break programs that print ids. */
const PRINTABLE = '^[^\\u0000-\\u001f\\u007f]+$';

const type = { minLength: 1, pattern: PRINTABLE, maxBytes: TYPE_BYTES_MAX };
const id = { minLength: 1, pattern: PRINTABLE, maxBytes: ID_BYTES_MAX };

export const objectType = Type.String(type);
/** Ids of a tenant's own objects and principals. As in OpenFGA, ids that differ in case are different. */
export const objectId = exactText(Type.String(id));
/** One of the seven relations, or a relation of the tenant's own model. The handler checks which exist. */
const relation = named(
  'Relation',
  Type.Unsafe<Relation>(Type.String({ ...type, examples: [...RELATIONS] })),
);

/** A check without its object's id. */
export const questionShape = {
  user_type: Type.String(type),
  user_id: objectId,
  relation,
  object_type: objectType,
};
export const fieldsShape = { ...questionShape, object_id: objectId };
/** The principal for whom the caller's principal acts: only what both are allowed is allowed. */
export const onBehalfOf = {
  on_behalf_of: Type.Optional(
    named('Principal', Type.Object({ user_type: Type.String(type), user_id: objectId })),
  ),
};
/** Tuples may not use a wildcard as object. */
const writableFields = {
  ...questionShape,
  object_id: exactText(Type.String({ ...id, not: { const: WILDCARD } })),
};

/** A wildcard may not be the parent of anything. */
export const writableShape = documented(Type.Object(writableFields), {
  not: {
    properties: { relation: { const: 'parent' }, user_id: { const: WILDCARD } },
    required: ['relation', 'user_id'],
  },
});

export const tupleShape = named(
  'Tuple',
  Type.Object({
    id: Type.String(),
    tenant_id: Type.String(),
    user_type: Type.String(),
    user_id: Type.String(),
    relation,
    object_type: Type.String(),
    object_id: Type.String(),
    created_at: Time,
  }),
);
