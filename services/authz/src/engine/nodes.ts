import { WILDCARD } from '../tuples/relation.ts';

/** The ids of one type that some tuple names. */
export type NodeType = {
  readonly name: string;
  readonly ids: Map<string, number>;
  /** Node of (type, "*"); 0 if no tuple names it. */
  wild: number;
};

const FIRST_SIZE = 64;

/**
 * Assigns a small number to every (type, id) that a tuple names, so that walks compare integers. 0 is no
 * node. A number is free again when the last tuple that names it is removed.
 */
export class Nodes {
  readonly #types = new Map<string, NodeType>();
  readonly #typeOf: (NodeType | undefined)[] = [undefined];
  readonly #idOf: string[] = [''];
  readonly #free: number[] = [];
  #uses = new Uint32Array(FIRST_SIZE);

  /** One more than the highest number in use: how long an array by node must be. */
  get size(): number {
    return this.#idOf.length;
  }

  find(type: string, id: string): number {
    return this.#types.get(type)?.ids.get(id) ?? 0;
  }

  /** Node of (type, "*"), 0 if there is none. */
  wildcardOf(type: string): number {
    return this.#types.get(type)?.wild ?? 0;
  }

  /** Node of the wildcard of a node's own type. */
  wildcardBeside(node: number): number {
    return this.#typeOf[node]?.wild ?? 0;
  }

  typeOf(node: number): string {
    return this.#typeOf[node]?.name ?? '';
  }

  idOf(node: number): string {
    return this.#idOf[node] ?? '';
  }

  isOfType(node: number, type: NodeType): boolean {
    return this.#typeOf[node] === type;
  }

  typeNamed(name: string): NodeType | undefined {
    return this.#types.get(name);
  }

  /** The node's number, assigned if needed; counts one more tuple that names it. */
  use(type: string, id: string): number {
    let entry = this.#types.get(type);
    if (entry === undefined) {
      entry = { name: type, ids: new Map(), wild: 0 };
      this.#types.set(type, entry);
    }
    const node = entry.ids.get(id) ?? this.#make(entry, id);
    this.#uses[node] = (this.#uses[node] ?? 0) + 1;
    return node;
  }

  /** Counts one tuple fewer that names it. */
  release(node: number): void {
    const uses = (this.#uses[node] ?? 0) - 1;
    this.#uses[node] = uses;
    const type = this.#typeOf[node];
    if (uses > 0 || type === undefined) return;
    type.ids.delete(this.idOf(node));
    if (type.wild === node) type.wild = 0;
    if (type.ids.size === 0) this.#types.delete(type.name);
    this.#typeOf[node] = undefined;
    this.#idOf[node] = '';
    this.#free.push(node);
  }

  #make(type: NodeType, id: string): number {
    const node = this.#free.pop() ?? this.#idOf.length;
    this.#typeOf[node] = type;
    this.#idOf[node] = id;
    type.ids.set(id, node);
    if (id === WILDCARD) type.wild = node;
    if (node >= this.#uses.length) this.#uses = grown(this.#uses, node + 1);
    this.#uses[node] = 0;
    return node;
  }
}

const GROWTH = 1.25;

/** A copy with room for at least `length` entries. */
export function grown<A extends Uint32Array | Uint8Array | Float64Array>(
  array: A,
  length: number,
): A {
  const size = Math.max(length, Math.ceil(array.length * GROWTH));
  const larger = new (array.constructor as new (size: number) => A)(size);
  larger.set(array);
  return larger;
}
