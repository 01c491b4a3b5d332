import { type Fields, WILDCARD } from '../relations/relation.ts';
import { EncodedId, type Saved, type Seed } from './id-arena.ts';
import { NodeHashes } from './node-hashes.ts';
import { NodeTable, type NodeTableState } from './node-table.ts';
import { isPlain, shownId, shownPart } from './shown-names.ts';

/** Shared by the thread. Their contents are only needed until an id was found or added. */
const FIRST = new EncodedId();
const SECOND = new EncodedId();

type EndFields = Pick<Fields, 'user_type' | 'user_id' | 'object_type' | 'object_id'>;
type Ends = {
  readonly subject: number;
  readonly object: number;
  /** The node of the wildcard of the subject's type. */
  readonly wildcard: number;
};

export type NodesState = {
  readonly typeNames: readonly string[];
  readonly nodesOfType: readonly number[];
  readonly wild: readonly number[];
  readonly freeTypes: readonly number[];
  readonly last: number;
  readonly firstFree: number;
  readonly count: number;
  readonly words: NodeTableState;
};

/**
 * Assigns a small number to every (type, id) that a tuple names, so that walks compare integers. 0 is neither a node
 * nor a type. A number becomes free when the last tuple that names it is removed.
 */
export class Nodes {
  readonly #seed: Seed;
  readonly #types: Map<string, number>;
  readonly #typeNames: string[];
  /** The type names in the form that reasons show. */
  readonly #shownTypes: string[];
  /** For each type, its nodes, and the node of (type, "*"), which is 0 if no tuple names it. */
  readonly #nodesOfType: number[];
  readonly #wild: number[];
  readonly #freeTypes: number[];

  readonly #words: NodeTable;
  readonly #slots: NodeHashes;
  #wildcards: number;
  #last: number;
  #firstFree: number;
  #count: number;
  /** Receives the values that were read ahead. Otherwise the compiler would remove the reads. */
  ahead = 0;

  constructor(seed: Seed, saved?: Saved<NodesState>) {
    const state = saved?.state ?? NO_NODES;
    const [slots, ...words] = saved?.words ?? [];
    this.#seed = seed;
    this.#typeNames = [...state.typeNames];
    this.#shownTypes = state.typeNames.map(shownPart);
    this.#types = new Map(state.typeNames.flatMap((name, type) => (name ? [[name, type]] : [])));
    this.#nodesOfType = [...state.nodesOfType];
    this.#wild = [...state.wild];
    this.#wildcards = state.wild.filter((node) => node !== 0).length;
    this.#freeTypes = [...state.freeTypes];
    this.#words = new NodeTable(saved && { state: state.words, words });
    this.#slots = new NodeHashes(slots);
    this.#last = state.last;
    this.#firstFree = state.firstFree;
    this.#count = state.count;
  }

  save(): Saved<NodesState> {
    const words = this.#words.save(this.#last);
    return {
      state: {
        typeNames: [...this.#typeNames],
        nodesOfType: [...this.#nodesOfType],
        wild: [...this.#wild],
        freeTypes: [...this.#freeTypes],
        last: this.#last,
        firstFree: this.#firstFree,
        count: this.#count,
        words: words.state,
      },
      words: [this.#slots.words, ...words.words],
    };
  }

  /** One more than the highest number in use, which is the required length of an array by node. */
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
   * Finds both ends of a question; 0 for an end that no tuple names. Both hashes are computed first, so that the
   * processor loads the memory for both at once.
   */
  ends(fields: EndFields): Ends {
    const subjectType = this.typeNamed(fields.user_type);
    const objectType = this.typeNamed(fields.object_type);
    FIRST.set(subjectType, fields.user_id);
    SECOND.set(objectType, fields.object_id);
    const subjectHash = FIRST.hash(this.#seed);
    const objectHash = SECOND.hash(this.#seed);
    this.ahead = this.#lineAt(subjectHash) ^ this.#lineAt(objectHash);
    return {
      subject: this.#find(FIRST, subjectHash),
      object: this.#find(SECOND, objectHash),
      wildcard: this.#wild[subjectType] as number,
    };
  }

  /** The first record of one of the node's lists in the graph. */
  head(node: number, list: number): number {
    return this.#words.head(node, list);
  }

  setHead(node: number, list: number, head: number): void {
    this.#words.setHead(node, list, head);
  }

  /** The node of (type, "*"); 0 if there is none. */
  wildcardOf(type: string): number {
    return this.#wild[this.typeNamed(type)] as number;
  }

  /** The node of the wildcard of a node's own type. */
  wildcardBeside(node: number): number {
    return this.#wildcards === 0 ? 0 : (this.#wild[this.#words.typeOf(node)] as number);
  }

  typeOf(node: number): string {
    return this.#typeNames[this.#words.typeOf(node)] as string;
  }

  idOf(node: number): string {
    return this.#words.idOf(node);
  }

  /** The node's name as reasons of checks show it, e.g. `user:ada`. A caller that has already read the id passes it. */
  nameOf(node: number, id = this.idOf(node)): string {
    const type = this.#shownTypes[this.#words.typeOf(node)] as string;
    return `${type}:${this.#words.isPlain(node) ? id : shownId(id)}`;
  }

  isOfType(node: number, type: number): boolean {
    return this.#words.typeOf(node) === type;
  }

  /** Returns 0 if no tuple names the type. */
  typeNamed(name: string): number {
    return this.#types.get(name) ?? 0;
  }

  /** Returns the node's number and assigns one if needed. */
  use(type: string, id: string): number {
    const number = this.#types.get(type) ?? this.#newType(type);
    FIRST.set(number, id);
    const hash = FIRST.hash(this.#seed);
    const node = this.#find(FIRST, hash);
    if (node !== 0) return node;
    const added = this.#newNode(FIRST, hash, isPlain(id));
    this.#nodesOfType[number] = (this.#nodesOfType[number] as number) + 1;
    if (id !== WILDCARD) return added;
    this.#wild[number] = added;
    this.#wildcards++;
    return added;
  }

  /** Call it when no tuple names the node any more. */
  release(node: number): void {
    const type = this.#words.typeOf(node);
    FIRST.set(type, this.#words.idOf(node));
    this.#slots.remove(FIRST.hash(this.#seed), node);
    this.#words.free(node, this.#firstFree);
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

  #find(id: EncodedId, hash: number): number {
    const slots = this.#slots;
    for (let at = slots.first(hash); ; at = slots.next(at)) {
      const node = slots.nodeAt(at);
      if (node === 0 || (slots.hashAt(at) === hash && this.#words.isNamed(node, id))) return node;
    }
  }

  /** Touches the memory at which a lookup will most likely end. */
  #lineAt(hash: number): number {
    return this.#words.head(this.#slots.nodeAt(this.#slots.first(hash)), 0);
  }

  #newType(name: string): number {
    const type = this.#freeTypes.pop() ?? this.#typeNames.length;
    this.#types.set(name, type);
    this.#typeNames[type] = name;
    this.#shownTypes[type] = shownPart(name);
    this.#nodesOfType[type] = 0;
    this.#wild[type] = 0;
    return type;
  }

  #newNode(id: EncodedId, hash: number, plain: boolean): number {
    const node = this.#freeNode();
    this.#words.name(node, id, plain);
    this.#count++;
    this.#slots.add(hash, node, this.#count);
    return node;
  }

  #freeNode(): number {
    const free = this.#firstFree;
    if (free === 0) return ++this.#last;
    this.#firstFree = this.#words.nextFree(free);
    return free;
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
  words: { ids: { used: 1, left: [] } },
};
