/** The words of a slot: the hash and the node. 0 is an empty slot. */
const SLOT_WORDS = 2;
const FIRST_SIZE = 32;
const LOAD_MAX = 0.7;

/**
 * Finds nodes by the hash of type and id, with open addressing: a node is stored between its hash's slot and the next
 * empty slot. Each hash is stored beside its node, so a search does not access other nodes' memory.
 */
export class NodeHashes {
  words: Uint32Array;
  #mask: number;

  constructor(words: Uint32Array = new Uint32Array(FIRST_SIZE * SLOT_WORDS)) {
    this.words = words;
    this.#mask = words.length - 1;
  }

  /** The slot at which a search for the hash begins. */
  first(hash: number): number {
    return (hash * SLOT_WORDS) & this.#mask;
  }

  next(at: number): number {
    return (at + SLOT_WORDS) & this.#mask;
  }

  hashAt(at: number): number {
    return this.words[at] as number;
  }

  /** Returns 0 for an empty slot. */
  nodeAt(at: number): number {
    return this.words[at + 1] as number;
  }

  /** `count` is the number of nodes including this one. */
  add(hash: number, node: number, count: number): void {
    if (count * SLOT_WORDS > this.words.length * LOAD_MAX) this.#grow();
    this.#place(hash, node);
  }

  /** Moves the following entries towards their hashes' slots, so that no empty slot remains before any of them. */
  remove(hash: number, node: number): void {
    const { words } = this;
    const mask = this.#mask;
    let gap = this.first(hash);
    while (words[gap + 1] !== node) gap = this.next(gap);
    for (let at = this.next(gap); ; at = this.next(at)) {
      const other = words[at + 1] as number;
      if (other === 0) break;
      const home = this.first(words[at] as number);
      if (((at - home) & mask) < ((at - gap) & mask)) continue;
      words[gap] = words[at] as number;
      words[gap + 1] = other;
      gap = at;
    }
    words[gap + 1] = 0;
  }

  #place(hash: number, node: number): void {
    let at = this.first(hash);
    while (this.words[at + 1] !== 0) at = this.next(at);
    this.words[at] = hash;
    this.words[at + 1] = node;
  }

  #grow(): void {
    const before = this.words;
    this.words = new Uint32Array(before.length * 2);
    this.#mask = this.words.length - 1;
    for (let at = 0; at < before.length; at += SLOT_WORDS) {
      const node = before[at + 1] as number;
      if (node !== 0) this.#place(before[at] as number, node);
    }
  }
}
