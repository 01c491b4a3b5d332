/** Something that knows its place in {@link OpenRequests}. */
export type Placed = { place: number };

/**
 * The requests that wait for their answer, in no order. Not a `Set`: V8 copies it after every few dozen changes,
 * and each copy leads to the next. As soon as one of them had been promoted to the old generation, all later ones
 * survived with the requests in them, until that was collected: under load a pause of 25 ms four times a second.
 */
export class OpenRequests<One extends Placed> {
  readonly #all: One[] = [];

  add(one: One): void {
    one.place = this.#all.length;
    this.#all.push(one);
  }

  delete(one: One): void {
    const last = this.#all.pop();
    if (last === undefined || last === one) return;
    this.#all[one.place] = last;
    last.place = one.place;
  }

  all(): readonly One[] {
    return [...this.#all];
  }
}
