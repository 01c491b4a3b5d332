import { numberOf } from '../relations/relation.ts';

/** A node's six lists: three for tuples with the node as subject (out), three with the node as object (in). */
export const OUT_MEMBER = 0;
export const OUT_PARENT = 1;
export const OUT_GRANT = 2;
export const IN_MEMBER = 3;
export const IN_PARENT = 4;
export const IN_GRANT = 5;

/** Whether it is a list of tuples with the node as subject. */
export const isOut = (list: number): boolean => list < IN_MEMBER;

/** The number of lists per node. */
export const LISTS = 6;

/** The lists that upward walks follow, which are copied, and their numbers among themselves. */
export const UPWARD: readonly number[] = [OUT_MEMBER, IN_PARENT, IN_GRANT];
export const MEMBERSHIPS = 0;
export const PARENTS = 1;
export const GRANTS = 2;

/** One word contains a number and, in the lowest bits, the relation of a tuple. */
const RELATION_BITS = 3;
const RELATION_MASK = 0b111;
/** Used instead of a relation. The seven relations are numbered from 0. */
const SEVERAL = RELATION_MASK;
export const withRelation = (number: number, relation: number): number =>
  ((number << RELATION_BITS) | relation) >>> 0;
export const numberIn = (word: number): number => word >>> RELATION_BITS;
export const relationIn = (word: number): number => word & RELATION_MASK;

/**
 * The head of a list in its node: 0 if the list is empty; the other end of its only tuple, with the relation; or the
 * record of the newest of several. Most lists have one tuple, and a walk then need not read its record.
 */
export const headOfSeveral = (newest: number): number => withRelation(newest, SEVERAL);
export const isOfSeveral = (head: number): boolean => relationIn(head) === SEVERAL;

export const outListOf = (relation: number): number =>
  relation === numberOf.member ? OUT_MEMBER : relation === numberOf.parent ? OUT_PARENT : OUT_GRANT;
