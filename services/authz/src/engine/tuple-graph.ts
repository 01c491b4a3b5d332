import { type Fields, numberOf, RELATIONS, type Relation } from '../relations/relation.ts';
import type { Saved, Seed } from './id-arena.ts';
import { InnerLists } from './inner-lists.ts';
import { Nodes, type NodesState } from './nodes.ts';
import {
  NEXT_IN,
  NEXT_OUT,
  PREVIOUS_IN,
  PREVIOUS_OUT,
  Records,
  type RecordsState,
} from './records.ts';
import {
  headOfSeveral,
  IN_GRANT,
  IN_MEMBER,
  IN_PARENT,
  isOfSeveral,
  isOut,
  LISTS,
  numberIn,
  OUT_MEMBER,
  outListOf,
  relationIn,
  withRelation,
} from './tuple-lists.ts';

/** An index is read again if it has at least this many nodes or records of which a quarter is not in use. */
const SPARSE_MIN = 10_000;
const SPARSE_SHARE = 0.25;
const SEQUENCE_MAX = 0xffffffff;
/** Far more than the number of tuples that one event of the log changes. */
const SEQUENCES_LEFT_MIN = 1_000_000;

/** A tuple by the numbers of its ends and its relation. */
export type NodeTuple = {
  readonly subject: number;
  readonly relation: number;
  readonly object: number;
};

type GraphState = {
  readonly seed: Seed;
  readonly nodes: NodesState;
  readonly records: RecordsState;
};
export type SavedGraph = Saved<GraphState>;
/** The number of arrays of a saved graph that belong to the nodes. They come first. */
const NODE_ARRAYS = 3;

/**
 * One tenant's tuples. Each node has six circular lists of records and stores the newest of each. Adding is one step,
 * and a walk that starts after the newest record begins with the oldest.
 */
export class TupleGraph {
  readonly nodes: Nodes;
  readonly records: Records;
  /** Copies of short lists, from which walks read frequent nodes. */
  readonly inner: InnerLists;
  readonly #seed: Seed;
  /** Receives the values that were read ahead. Otherwise the compiler would remove the reads. */
  ahead = 0;

  constructor(seed: Seed, saved?: Saved<Omit<GraphState, 'seed'>>) {
    const nodes = saved && { state: saved.state.nodes, words: saved.words.slice(0, NODE_ARRAYS) };
    const records = saved && { state: saved.state.records, words: saved.words.slice(NODE_ARRAYS) };
    this.#seed = seed;
    this.nodes = new Nodes(seed, nodes);
    this.records = new Records(seed[0], records);
    this.inner = new InnerLists(this.nodes, this.records);
  }

  /** Views of its arrays, which are valid until the next change. */
  save(): SavedGraph {
    const nodes = this.nodes.save();
    const records = this.records.save();
    return {
      state: { seed: [...this.#seed], nodes: nodes.state, records: records.state },
      words: [...nodes.words, ...records.words],
    };
  }

  get size(): number {
    return this.records.count;
  }

  /**
   * Whether much of its memory is no longer in use, or its sequence numbers are nearly used up. Its owner then reads
   * the tuples again.
   */
  get isWorn(): boolean {
    const { nodes, records } = this;
    return (
      isSparse(records.count, records.last) ||
      isSparse(nodes.count, nodes.size) ||
      records.lastSequence > SEQUENCE_MAX - SEQUENCES_LEFT_MIN
    );
  }

  head(node: number, list: number): number {
    return this.nodes.head(node, list);
  }

  isEmpty(node: number, list: number): boolean {
    return this.head(node, list) === 0;
  }

  /** The newest record of a node's list; 0 if it is empty. The oldest one follows the newest. */
  newest(node: number, list: number): number {
    const head = this.head(node, list);
    if (head === 0) return 0;
    const number = numberIn(head);
    if (isOfSeveral(head)) return number;
    const [subject, object] = isOut(list) ? [node, number] : [number, node];
    return this.find(subject, object, relationIn(head));
  }

  /** Reads the memory that a check of these two nodes needs first, so that the processor loads all of it at once. */
  readAhead(subject: number, object: number): void {
    this.ahead =
      this.#listAhead(subject, OUT_MEMBER) ^
      this.#listAhead(object, IN_PARENT) ^
      this.#listAhead(object, IN_GRANT);
  }

  #listAhead(node: number, list: number): number {
    const head = this.head(node, list);
    return isOfSeveral(head) ? this.records.subjectOf(numberIn(head)) : 0;
  }

  find(subject: number, object: number, relation: number): number {
    if (subject === 0 || object === 0) return 0;
    const { records } = this;
    let record = records.firstOfPair(subject, object);
    while (record !== 0 && records.relationNumber(record) !== relation) {
      record = records.nextOfPair(record);
    }
    return record;
  }

  /** The age of an existing tuple. */
  sequenceOf({ subject, relation, object }: NodeTuple): number {
    return this.records.sequenceOf(this.find(subject, object, relation));
  }

  /** Writes the tuple as the newest one. Writing an existing tuple changes nothing. */
  write(fields: Fields): void {
    const subject = this.nodes.use(fields.user_type, fields.user_id);
    const object = this.nodes.use(fields.object_type, fields.object_id);
    const relation = numberOf[fields.relation];
    if (this.find(subject, object, relation) !== 0) return;
    const record = this.records.add(subject, object, relation);
    const list = outListOf(relation);
    this.#link(subject, list, record);
    this.#link(object, list + IN_MEMBER, record);
  }

  /** Deleting a missing tuple changes nothing. */
  delete(fields: Fields): void {
    const { subject, object } = this.nodes.ends(fields);
    const relation = numberOf[fields.relation];
    const record = this.find(subject, object, relation);
    if (record === 0) return;
    const list = outListOf(relation);
    this.#unlink(subject, list, record);
    this.#unlink(object, list + IN_MEMBER, record);
    this.records.remove(record);
    if (!this.#isNamed(subject)) this.nodes.release(subject);
    if (object !== subject && !this.#isNamed(object)) this.nodes.release(object);
  }

  fieldsOf({ subject, relation, object }: NodeTuple): Fields {
    const { nodes } = this;
    return {
      user_type: nodes.typeOf(subject),
      user_id: nodes.idOf(subject),
      relation: RELATIONS[relation] as Relation,
      object_type: nodes.typeOf(object),
      object_id: nodes.idOf(object),
    };
  }

  #isNamed(node: number): boolean {
    for (let list = 0; list < LISTS; list++) if (!this.isEmpty(node, list)) return true;
    return false;
  }

  #link(node: number, list: number, record: number): void {
    const { records } = this;
    const [next, previous] = neighbours(list);
    const newest = this.newest(node, list);
    const oldest = newest === 0 ? record : records.get(newest, next);
    records.set(record, next, oldest);
    records.set(oldest, previous, record);
    if (newest !== 0) {
      records.set(newest, next, record);
      records.set(record, previous, newest);
    }
    this.#setNewest(node, list, record);
  }

  #unlink(node: number, list: number, record: number): void {
    const { records } = this;
    const [next, previous] = neighbours(list);
    const after = records.get(record, next);
    const before = records.get(record, previous);
    const newest = this.newest(node, list);
    records.set(before, next, after);
    records.set(after, previous, before);
    if (after === record) this.#setHead(node, list, 0);
    else this.#setNewest(node, list, newest === record ? before : newest);
  }

  #setNewest(node: number, list: number, record: number): void {
    const { records } = this;
    const isOnly = records.nextOf(record, list) === record;
    const link = withRelation(records.otherEndOf(record, list), records.relationNumber(record));
    this.#setHead(node, list, isOnly ? link : headOfSeveral(record));
  }

  #setHead(node: number, list: number, head: number): void {
    this.nodes.setHead(node, list, head);
    this.inner.changed(node, list);
  }
}

const OUT = [NEXT_OUT, PREVIOUS_OUT] as const;
const IN = [NEXT_IN, PREVIOUS_IN] as const;
/** The words that link a list's records. */
const neighbours = (list: number) => (isOut(list) ? OUT : IN);

const isSparse = (used: number, of: number): boolean =>
  of > SPARSE_MIN && used < of * (1 - SPARSE_SHARE);
