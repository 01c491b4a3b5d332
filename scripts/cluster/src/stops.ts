/**
 * Stops everything that was started, the last started first. Each part is stopped once, and a failure skips
 * none of the others.
 */
type Stop = { readonly name: string; readonly stop: () => Promise<unknown> | unknown };

export class Stops {
  readonly #stops: Stop[] = [];
  #stopping: Promise<readonly string[]> | undefined;

  /** A part that is added after everything was stopped is stopped at once. */
  add(name: string, stop: Stop['stop']): void {
    if (this.#stopping === undefined) this.#stops.push({ name, stop });
    else void stop();
  }

  /** Stops all parts. Returns what went wrong, a sentence each. */
  all(): Promise<readonly string[]> {
    this.#stopping ??= this.#each();
    return this.#stopping;
  }

  async #each(): Promise<readonly string[]> {
    const failures: string[] = [];
    for (let next = this.#stops.pop(); next !== undefined; next = this.#stops.pop()) {
      try {
        await next.stop();
      } catch (error) {
        failures.push(`${next.name}: ${(error as Error).message}`);
      }
    }
    return failures;
  }
}
