import { inspect } from 'node:util';

/** A secret text. `reveal()` returns it; anything that prints it gets `[redacted]`. */
export type Secret = { reveal(): string; toString(): string; toJSON(): string };

const REDACTED = '[redacted]';

/** Keeps the text in a private field, where neither JSON, inspection nor a spread finds it. */
export const secret = (text: string): Secret => Object.freeze(new HeldSecret(text));

class HeldSecret {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  reveal(): string {
    return this.#text;
  }
  toString(): string {
    return REDACTED;
  }
  toJSON(): string {
    return REDACTED;
  }
  [Symbol.toPrimitive](): string {
    return REDACTED;
  }
  [inspect.custom](): string {
    return REDACTED;
  }
}
