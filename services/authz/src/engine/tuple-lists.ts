import { numberOf } from '../relations/relation.ts';

/** A node's six lists: three for tuples of which it is the subject (out), three for the object (in). */
export const OUT_MEMBER = 0;
export const OUT_PARENT = 1;
export const OUT_GRANT = 2;
export const IN_MEMBER = 3;
export const IN_PARENT = 4;
export const IN_GRANT = 5;

/** Whether it is a list of tuples of which the node is the subject. */
export const isOut = (list: number): boolean => list < IN_MEMBER;

/** Lists that a node has. */
export const LISTS = 6;

/** The lists that walks upward follow, of which there are copies, and their numbers among themselves. */
export const UPWARD: readonly number[] = [OUT_MEMBER, IN_PARENT, IN_GRANT];
export const MEMBERSHIPS = 0;
export const PARENTS = 1;
export const GRANTS = 2;

/** A number in one word with the relation of a tuple, which stands in the lowest bits. */
const RELATION_BITS = 3;
const RELATION_MASK = 0b111;
/** In the place of a relation; there are seven, from 0 on. */
const SEVERAL = RELATION_MASK;
export const withRelation = (number: number, relation: number): number =>
  ((number << RELATION_BITS) | relation) >>> 0;
export const numberIn = (word: number): number => word >>> RELATION_BITS;
export const relationIn = (word: number): number => word & RELATION_MASK;

/**
 * What a node keeps of a list is its head: 0 where it is empty; the other end of its only tuple, with the relation;
 * or, of several, the newest one's record. Most lists have one tuple, and a walk need not read its record.
 */
export const headOfSeveral = (newest: number): number => withRelation(newest, SEVERAL);
export const isOfSeveral = (head: number): boolean => relationIn(head) === SEVERAL;

export const outListOf = (relation: number): number =>
  relation === numberOf.member ? OUT_MEMBER : relation === numberOf.parent ? OUT_PARENT : OUT_GRANT;
