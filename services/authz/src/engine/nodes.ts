import { WILDCARD } from '../tuples/relation.ts';
import { grown } from './growing.ts';
import { encode, hashOfText, IdArena, type Saved, type Seed } from './id-arena.ts';

/** Words of a node: where its id stands, the hash of type and id, and what the graph keeps beside them. */
const PLACE = 0;
const HASH = 1;
const LISTS_AT = 2;
/** Lists of tuples that a node has. */
export const LISTS = 6;
const WORDS = LISTS_AT + LISTS;

const FIRST_SIZE = 32;
const LOAD_MAX = 0.7;

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
  /** Open addressing over (type, id): a node lies between its hash and the next gap. */
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
    this.#slots = slots ?? new Uint32Array(FIRST_SIZE);
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
    encode(number, id);
    return this.#find(hashOfText(this.#seed));
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
    encode(number, id);
    const hash = hashOfText(this.#seed);
    const node = this.#find(hash);
    if (node !== 0) return node;
    const added = this.#newNode(hash);
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

  /** The node of the encoded type and id. */
  #find(hash: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const node = this.#slots[slot] as number;
      if (node === 0) return 0;
      if (this.#hashOf(node) === hash && this.#ids.holds(this.#placeOf(node))) return node;
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

  #newNode(hash: number): number {
    const node = this.#freeNode();
    this.#words[node * WORDS + PLACE] = this.#ids.add();
    this.#words[node * WORDS + HASH] = hash;
    this.#count++;
    if (this.#count > this.#slots.length * LOAD_MAX) this.#growSlots();
    else this.#place(node);
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

  #place(node: number): void {
    const mask = this.#slots.length - 1;
    let slot = this.#hashOf(node) & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = node;
  }

  #growSlots(): void {
    this.#slots = new Uint32Array(this.#slots.length * 2);
    for (let node = 1; node <= this.#last; node++) {
      if (this.#placeOf(node) !== 0) this.#place(node);
    }
  }

  /** Moves those that stand after it towards their hashes, so that no gap is left before any of them. */
  #removeSlot(node: number): void {
    const mask = this.#slots.length - 1;
    let gap = this.#hashOf(node) & mask;
    while (this.#slots[gap] !== node) gap = (gap + 1) & mask;
    for (let slot = (gap + 1) & mask; ; slot = (slot + 1) & mask) {
      const other = this.#slots[slot] as number;
      if (other === 0) break;
      const home = this.#hashOf(other) & mask;
      if (((slot - home) & mask) < ((slot - gap) & mask)) continue;
      this.#slots[gap] = other;
      gap = slot;
    }
    this.#slots[gap] = 0;
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
