import { type Fields, WILDCARD } from '../tuples/relation.ts';
import { grown } from './growing.ts';
import { EncodedId, IdArena, type Saved, type Seed } from './id-arena.ts';

/** Words of a node: where its id stands, the hash of type and id, and what the graph keeps beside them. */
const PLACE = 0;
const HASH = 1;
const LISTS_AT = 2;
/** Lists of tuples that a node has. */
export const LISTS = 6;
const WORDS = LISTS_AT + LISTS;
/** Words of a slot: the hash, and the node; 0 is a gap. */
const SLOT_WORDS = 2;

const FIRST_SIZE = 32;
const LOAD_MAX = 0.7;

/** For the thread: what they contain is only needed until an id was found or added. */
const FIRST = new EncodedId();
const SECOND = new EncodedId();

type EndFields = Pick<Fields, 'user_type' | 'user_id' | 'object_type' | 'object_id'>;
type Ends = { readonly subject: number; readonly object: number };

export type NodesState = {
  readonly typeNames: readonly string[];
  readonly nodesOfType: readonly number[];
  readonly wild: readonly number[];
  readonly freeTypes: readonly number[];
  readonly last: number;
  readonly firstFree: number;
  readonly count: number;
  readonly ids: ReturnType<IdArena['save']>['state'];
};

/**
 * Assigns a small number to every (type, id) that a tuple names, so that walks compare integers. 0 is no
 * node and no type. A number is free again when the last tuple that names it is removed.
 */
export class Nodes {
  readonly #seed: Seed;
  readonly #types: Map<string, number>;
  readonly #typeNames: string[];
  /** By type, its nodes, and the node of (type, "*"); 0 if no tuple names it. */
  readonly #nodesOfType: number[];
  readonly #wild: number[];
  readonly #freeTypes: number[];

  /** Each id with the number of its type. */
  readonly #ids: IdArena;
  /** Together by node: what one look-up needs lies beside each other. A free node's hash is the next free one. */
  #words: Uint32Array;
  /**
   * Open addressing over (type, id): a node lies between its hash and the next gap. Each slot is two words, the
   * hash and the node, so that a search looks at no other node's memory.
   */
  #slots: Uint32Array;
  #wildcards: number;
  #last: number;
  #firstFree: number;
  #count: number;

  constructor(seed: Seed, saved?: Saved<NodesState>) {
    const { state, words } = saved ?? { state: NO_NODES, words: [] };
    const [own, slots, ids] = words;
    this.#seed = seed;
    this.#typeNames = [...state.typeNames];
    this.#types = new Map(state.typeNames.flatMap((name, type) => (name ? [[name, type]] : [])));
    this.#nodesOfType = [...state.nodesOfType];
    this.#wild = [...state.wild];
    this.#wildcards = state.wild.filter((node) => node !== 0).length;
    this.#freeTypes = [...state.freeTypes];
    this.#ids = new IdArena(ids === undefined ? undefined : { state: state.ids, words: [ids] });
    this.#words = own ?? new Uint32Array(FIRST_SIZE * WORDS);
    this.#slots = slots ?? new Uint32Array(FIRST_SIZE * SLOT_WORDS);
    this.#last = state.last;
    this.#firstFree = state.firstFree;
    this.#count = state.count;
  }

  save(): Saved<NodesState> {
    const ids = this.#ids.save();
    return {
      state: {
        typeNames: [...this.#typeNames],
        nodesOfType: [...this.#nodesOfType],
        wild: [...this.#wild],
        freeTypes: [...this.#freeTypes],
        last: this.#last,
        firstFree: this.#firstFree,
        count: this.#count,
        ids: ids.state,
      },
      words: [this.#words.subarray(0, (this.#last + 1) * WORDS), this.#slots, ...ids.words],
    };
  }

  /** One more than the highest number in use: how long an array by node must be. */
  get size(): number {
    return this.#last + 1;
  }

  get count(): number {
    return this.#count;
  }

  find(type: string, id: string): number {
    const number = this.#types.get(type);
    if (number === undefined) return 0;
    FIRST.set(number, id);
    return this.#find(FIRST, FIRST.hash(this.#seed));
  }

  /**
   * Both ends of a question, 0 where no tuple names one. Their hashes first: then the processor waits for the
   * memory of both at once.
   */
  ends(fields: EndFields): Ends {
    const subjectType = this.typeNamed(fields.user_type);
    const objectType = this.typeNamed(fields.object_type);
    FIRST.set(subjectType, fields.user_id);
    SECOND.set(objectType, fields.object_id);
    const subjectHash = FIRST.hash(this.#seed);
    const objectHash = SECOND.hash(this.#seed);
    return {
      subject: this.#find(FIRST, subjectHash),
      object: this.#find(SECOND, objectHash),
    };
  }

  /** A word that the graph keeps with a node: the newest tuple of one of its lists. */
  newest(node: number, list: number): number {
    return this.#words[node * WORDS + LISTS_AT + list] as number;
  }

  setNewest(node: number, list: number, record: number): void {
    this.#words[node * WORDS + LISTS_AT + list] = record;
  }

  /** Node of (type, "*"), 0 if there is none. */
  wildcardOf(type: string): number {
    return this.#wild[this.typeNamed(type)] as number;
  }

  /** Node of the wildcard of a node's own type. */
  wildcardBeside(node: number): number {
    return this.#wildcards === 0 ? 0 : (this.#wild[this.#typeOf(node)] as number);
  }

  typeOf(node: number): string {
    return this.#typeNames[this.#typeOf(node)] as string;
  }

  idOf(node: number): string {
    return this.#ids.textAt(this.#placeOf(node));
  }

  isOfType(node: number, type: number): boolean {
    return this.#placeOf(node) !== 0 && this.#typeOf(node) === type;
  }

  /** 0 if no tuple names it. */
  typeNamed(name: string): number {
    return this.#types.get(name) ?? 0;
  }

  /** The node's number, assigned if needed. */
  use(type: string, id: string): number {
    const number = this.#types.get(type) ?? this.#newType(type);
    FIRST.set(number, id);
    const hash = FIRST.hash(this.#seed);
    const node = this.#find(FIRST, hash);
    if (node !== 0) return node;
    const added = this.#newNode(FIRST, hash);
    this.#nodesOfType[number] = (this.#nodesOfType[number] as number) + 1;
    if (id !== WILDCARD) return added;
    this.#wild[number] = added;
    this.#wildcards++;
    return added;
  }

  /** No tuple names it any more. */
  release(node: number): void {
    const at = node * WORDS;
    const type = this.#typeOf(node);
    this.#removeSlot(node);
    this.#ids.remove(this.#placeOf(node));
    this.#words[at + PLACE] = 0;
    this.#words[at + HASH] = this.#firstFree;
    this.#firstFree = node;
    this.#count--;
    if (this.#wild[type] === node) {
      this.#wild[type] = 0;
      this.#wildcards--;
    }
    const others = (this.#nodesOfType[type] as number) - 1;
    this.#nodesOfType[type] = others;
    if (others > 0) return;
    this.#types.delete(this.#typeNames[type] as string);
    this.#typeNames[type] = '';
    this.#freeTypes.push(type);
  }

  /** 0 if the node is free. */
  #placeOf(node: number): number {
    return this.#words[node * WORDS + PLACE] as number;
  }

  #typeOf(node: number): number {
    return this.#ids.numberAt(this.#placeOf(node));
  }

  #hashOf(node: number): number {
    return this.#words[node * WORDS + HASH] as number;
  }

  #find(id: EncodedId, hash: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let at = (hash * SLOT_WORDS) & mask; ; at = (at + SLOT_WORDS) & mask) {
      const node = slots[at + 1] as number;
      if (node === 0) return 0;
      if (slots[at] === hash && this.#ids.holds(this.#placeOf(node), id)) return node;
    }
  }

  #newType(name: string): number {
    const type = this.#freeTypes.pop() ?? this.#typeNames.length;
    this.#types.set(name, type);
    this.#typeNames[type] = name;
    this.#nodesOfType[type] = 0;
    this.#wild[type] = 0;
    return type;
  }

  #newNode(id: EncodedId, hash: number): number {
    const node = this.#freeNode();
    this.#words[node * WORDS + PLACE] = this.#ids.add(id);
    this.#words[node * WORDS + HASH] = hash;
    this.#count++;
    if (this.#count * SLOT_WORDS > this.#slots.length * LOAD_MAX) this.#growSlots();
    this.#place(hash, node);
    return node;
  }

  #freeNode(): number {
    const free = this.#firstFree;
    if (free !== 0) {
      this.#firstFree = this.#hashOf(free);
      return free;
    }
    const node = ++this.#last;
    const length = (node + 1) * WORDS;
    if (length > this.#words.length) this.#words = grown(this.#words, length);
    return node;
  }

  #place(hash: number, node: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let at = (hash * SLOT_WORDS) & mask;
    while (slots[at + 1] !== 0) at = (at + SLOT_WORDS) & mask;
    slots[at] = hash;
    slots[at + 1] = node;
  }

  #growSlots(): void {
    const before = this.#slots;
    this.#slots = new Uint32Array(before.length * 2);
    for (let at = 0; at < before.length; at += SLOT_WORDS) {
      const node = before[at + 1] as number;
      if (node !== 0) this.#place(before[at] as number, node);
    }
  }

  /** Moves those that stand after it towards their hashes, so that no gap is left before any of them. */
  #removeSlot(node: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let gap = (this.#hashOf(node) * SLOT_WORDS) & mask;
    while (slots[gap + 1] !== node) gap = (gap + SLOT_WORDS) & mask;
    for (let at = (gap + SLOT_WORDS) & mask; ; at = (at + SLOT_WORDS) & mask) {
      const hash = slots[at] as number;
      const other = slots[at + 1] as number;
      if (other === 0) break;
      const home = (hash * SLOT_WORDS) & mask;
      if (((at - home) & mask) < ((at - gap) & mask)) continue;
      slots[gap] = hash;
      slots[gap + 1] = other;
      gap = at;
    }
    slots[gap + 1] = 0;
  }
}

const NO_NODES: NodesState = {
  typeNames: [''],
  nodesOfType: [0],
  wild: [0],
  freeTypes: [],
  last: 0,
  firstFree: 0,
  count: 0,
  ids: { used: 1, left: [] },
};
