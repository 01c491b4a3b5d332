import { type Fields, numberOf, RELATIONS, type Relation } from '../tuples/relation.ts';
import { grown, Nodes } from './nodes.ts';

/** A node's six lists: three for tuples of which it is the subject (out), three for the object (in). */
export const OUT_MEMBER = 0;
export const OUT_PARENT = 1;
export const OUT_GRANT = 2;
export const IN_MEMBER = 3;
export const IN_PARENT = 4;
export const IN_GRANT = 5;
const LISTS = 6;

const FIRST_SIZE = 64;
const LOAD_MAX = 0.7;
/** A slot of the pair table whose record was removed; a search continues past it. */
const DEAD = 0xffffffff;

const outListOf = (relation: number): number =>
  relation === numberOf.member ? OUT_MEMBER : relation === numberOf.parent ? OUT_PARENT : OUT_GRANT;

/**
 * One tenant's tuples. A record is a number from 1 on into parallel arrays. Each node has six circular
 * lists whose head points at the newest record: adding is one step, and a walk that starts at the head's
 * successor meets the oldest first. `sequence` compares ages across lists, because record numbers are
 * reused.
 */
export class TupleGraph {
  readonly nodes = new Nodes();
  subjects = new Uint32Array(FIRST_SIZE);
  objects = new Uint32Array(FIRST_SIZE);
  relations = new Uint8Array(FIRST_SIZE);
  sequence = new Float64Array(FIRST_SIZE);
  /** The list in which a record's subject, or its object, keeps it. */
  readonly out: Links = newLinks();
  readonly into: Links = newLinks();
  /**
   * Open addressing over (subject, object): all records of a pair lie between its hash and the next gap.
   */
  pairs = new Uint32Array(FIRST_SIZE);
  #heads = new Uint32Array(FIRST_SIZE * LISTS);
  #records = 0;
  #dead = 0;
  #lastSequence = 0;
  readonly #freeRecords: number[] = [];

  get size(): number {
    return this.#records - this.#freeRecords.length;
  }

  /** The newest record of a node's list, 0 if it is empty; the oldest is the newest one's successor. */
  newest(node: number, list: number): number {
    return this.#heads[node * LISTS + list] ?? 0;
  }

  /** Where the records of a pair start in `pairs`. */
  slotOf(subject: number, object: number): number {
    const mixed = Math.imul(subject, 0x9e3779b1) ^ Math.imul(object, 0x85ebca6b);
    return Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d) & (this.pairs.length - 1);
  }

  find(subject: number, object: number, relation: number): number {
    if (subject === 0 || object === 0) return 0;
    const mask = this.pairs.length - 1;
    for (let slot = this.slotOf(subject, object); ; slot = (slot + 1) & mask) {
      const record = this.pairs[slot] as number;
      if (record === 0) return 0;
      if (record !== DEAD && this.joins(record, subject, object)) {
        if (this.relations[record] === relation) return record;
      }
    }
  }

  /** True if a slot's record connects exactly these two; false for a dead slot. */
  joins(record: number, subject: number, object: number): boolean {
    return this.subjects[record] === subject && this.objects[record] === object;
  }

  has(fields: Fields): boolean {
    return this.#recordOf(fields) !== 0;
  }

  /** The tuple becomes the newest. Writing an existing tuple changes nothing. */
  write(fields: Fields): void {
    if (this.has(fields)) return;
    const subject = this.nodes.use(fields.user_type, fields.user_id);
    const object = this.nodes.use(fields.object_type, fields.object_id);
    const relation = numberOf[fields.relation];
    const record = this.#newRecord();
    this.subjects[record] = subject;
    this.objects[record] = object;
    this.relations[record] = relation;
    this.sequence[record] = ++this.#lastSequence;

    if (this.nodes.size * LISTS > this.#heads.length) {
      this.#heads = grown(this.#heads, this.nodes.size * LISTS);
    }
    const out = subject * LISTS + outListOf(relation);
    const into = object * LISTS + outListOf(relation) + IN_MEMBER;
    link(this.#heads, out, record, this.out);
    link(this.#heads, into, record, this.into);
    this.#addPair(record);
  }

  /** Deleting a missing tuple changes nothing. */
  delete(fields: Fields): void {
    const record = this.#recordOf(fields);
    if (record === 0) return;
    const subject = this.subjects[record] as number;
    const object = this.objects[record] as number;
    const list = outListOf(this.relations[record] as number);
    this.#removePair(record);
    unlink(this.#heads, subject * LISTS + list, record, this.out);
    unlink(this.#heads, object * LISTS + list + IN_MEMBER, record, this.into);
    this.subjects[record] = 0;
    this.objects[record] = 0;
    this.#freeRecords.push(record);
    this.nodes.release(subject);
    this.nodes.release(object);
  }

  relationOf(record: number): Relation {
    return RELATIONS[this.relations[record] as number] as Relation;
  }

  fieldsOf(record: number): Fields {
    const { nodes } = this;
    const subject = this.subjects[record] as number;
    const object = this.objects[record] as number;
    return {
      user_type: nodes.typeOf(subject),
      user_id: nodes.idOf(subject),
      relation: this.relationOf(record),
      object_type: nodes.typeOf(object),
      object_id: nodes.idOf(object),
    };
  }

  #recordOf(fields: Fields): number {
    return this.find(
      this.nodes.find(fields.user_type, fields.user_id),
      this.nodes.find(fields.object_type, fields.object_id),
      numberOf[fields.relation],
    );
  }

  #newRecord(): number {
    const free = this.#freeRecords.pop();
    if (free !== undefined) return free;
    const record = ++this.#records;
    if (record >= this.subjects.length) {
      this.subjects = grown(this.subjects, record + 1);
      this.objects = grown(this.objects, record + 1);
      this.relations = grown(this.relations, record + 1);
      this.sequence = grown(this.sequence, record + 1);
      for (const links of [this.out, this.into]) {
        links.next = grown(links.next, record + 1);
        links.previous = grown(links.previous, record + 1);
      }
    }
    return record;
  }

  #addPair(record: number): void {
    if ((this.size + this.#dead) / this.pairs.length > LOAD_MAX) this.#rehash();
    else this.#place(record);
  }

  #place(record: number): void {
    const mask = this.pairs.length - 1;
    let slot = this.slotOf(this.subjects[record] as number, this.objects[record] as number);
    while (this.pairs[slot] !== 0 && this.pairs[slot] !== DEAD) slot = (slot + 1) & mask;
    if (this.pairs[slot] === DEAD) this.#dead--;
    this.pairs[slot] = record;
  }

  /** Half full afterwards, without dead slots. The size stays a power of two. */
  #rehash(): void {
    let size = FIRST_SIZE;
    while (size < this.size * 2) size *= 2;
    this.pairs = new Uint32Array(size);
    this.#dead = 0;
    for (let record = 1; record <= this.#records; record++) {
      if (this.subjects[record] !== 0) this.#place(record);
    }
  }

  #removePair(record: number): void {
    const mask = this.pairs.length - 1;
    let slot = this.slotOf(this.subjects[record] as number, this.objects[record] as number);
    while (this.pairs[slot] !== record) slot = (slot + 1) & mask;
    this.pairs[slot] = DEAD;
    this.#dead++;
  }
}

type Links = { next: Uint32Array; previous: Uint32Array };

const newLinks = (): Links => ({
  next: new Uint32Array(FIRST_SIZE),
  previous: new Uint32Array(FIRST_SIZE),
});

function link(heads: Uint32Array, list: number, record: number, links: Links): void {
  const newest = heads[list] as number;
  const oldest = newest === 0 ? record : (links.next[newest] as number);
  links.next[record] = oldest;
  links.previous[oldest] = record;
  if (newest !== 0) {
    links.next[newest] = record;
    links.previous[record] = newest;
  }
  heads[list] = record;
}

function unlink(heads: Uint32Array, list: number, record: number, links: Links): void {
  const after = links.next[record] as number;
  const before = links.previous[record] as number;
  if (after === record) {
    heads[list] = 0;
    return;
  }
  links.next[before] = after;
  links.previous[after] = before;
  if (heads[list] === record) heads[list] = before;
}
