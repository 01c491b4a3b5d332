/**
 * A tuple states "subject IS relation OF object". The seven built-in relations have a fixed order: owner implies
 * editor, editor implies viewer and can_write, viewer implies can_read. `member` and `parent` imply nothing.
 */
export const RELATIONS = [
  'owner',
  'editor',
  'viewer',
  'can_read',
  'can_write',
  'member',
  'parent',
] as const;
/**
 * If the tenant has its own model, this may be one of that model's names although the type lists only the seven. Code
 * that looks up a relation's number first calls `isBuiltIn`.
 */
export type Relation = (typeof RELATIONS)[number];

export const isBuiltIn = (relation: string): relation is Relation =>
  (RELATIONS as readonly string[]).includes(relation);

/** The fields of a tuple and of a check (`docs/contract.md` 2.7). All except the relation are opaque strings. */
export type Fields = {
  readonly user_type: string;
  readonly user_id: string;
  readonly relation: Relation;
  readonly object_type: string;
  readonly object_id: string;
};

/** Tuples to write and to delete in one step. */
export type Batch = { readonly writes: readonly Fields[]; readonly deletes: readonly Fields[] };

/** As the id of a subject, the wildcard means every id of the subject's type. */
export const WILDCARD = '*';

/** The number of each relation in table and index. */
export const numberOf = {
  owner: 0,
  editor: 1,
  viewer: 2,
  can_read: 3,
  can_write: 4,
  member: 5,
  parent: 6,
} as const satisfies Record<Relation, number>;

/** The number of a relation that is not one of the seven. Its name is stored beside it. */
const OWN = 7;

/** The columns that store a relation. */
export const columnsOf = (relation: Relation) =>
  isBuiltIn(relation)
    ? { relation: numberOf[relation], own_relation: null }
    : { relation: OWN, own_relation: relation as string };

/** The name of a stored relation. */
export const relationOf = (row: {
  readonly relation: number;
  readonly own_relation: string | null;
}): Relation => (row.own_relation ?? RELATIONS[row.relation]) as Relation;

/** Bit r is set if relation r satisfies the requested one. */
export const satisfying = {
  owner: 0b00001,
  editor: 0b00011,
  viewer: 0b00111,
  can_read: 0b01111,
  can_write: 0b10011,
  member: 0b0100000,
  parent: 0b1000000,
} as const satisfies Record<Relation, number>;

/** Copies the fields in the contract's order, without other properties. */
export const fieldsOf = (from: Fields): Fields => ({
  user_type: from.user_type,
  user_id: from.user_id,
  relation: from.relation,
  object_type: from.object_type,
  object_id: from.object_id,
});

/** Whether the tuple makes a wildcard a parent. Such tuples are neither written nor deleted. */
export const isWildcardParent = ({ relation, user_id }: Fields): boolean =>
  relation === 'parent' && user_id === WILDCARD;

/** Reads the fields of a recorded event. Throws if they are not in the written form, so that the stream is parked. */
export function readFields(data: { readonly [field: string]: unknown }): Fields {
  const { user_type, user_id, relation, object_type, object_id } = data;
  const texts = [user_type, user_id, object_type, object_id];
  if (![...texts, relation].every((text) => typeof text === 'string')) {
    throw new UnreadableTuple();
  }
  return { user_type, user_id, relation, object_type, object_id } as Fields;
}

/** An event of a tuple's stream that cannot be read as one. */
export class UnreadableTuple extends Error {
  override readonly name = 'UnreadableTuple';
}
