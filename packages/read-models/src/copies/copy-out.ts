/**
 * The output of `COPY … TO STDOUT` as one stream of text in large pages. A server sends each row in a separate message.
 * Here their contents are joined, so that a row costs no Buffer.
 */
import { Readable } from 'node:stream';
import type { Connection } from 'pg';
import { copiedRows } from './copied-rows.ts';

const PAGE_BYTES = 1 << 18;
/** The number of pages that are read while earlier ones are still being compressed. */
const PAGES_AHEAD_MAX = 4;

type DataListener = (chunk: Buffer) => void;

/** A query for `client.query`. `rowCount` has the number of rows after it has ended. */
export class CopyOut extends Readable {
  rowCount = 0;
  readonly #statement: string;
  #page = Buffer.alloc(0);
  #used = 0;
  #resume: (() => void) | undefined;

  constructor(statement: string) {
    super({ highWaterMark: PAGES_AHEAD_MAX * PAGE_BYTES });
    this.#statement = statement;
  }

  /** Reads from the connection's socket instead of the driver until the last row has arrived. */
  submit(connection: Connection): void {
    const socket = connection.stream;
    const [driver] = socket.listeners('data') as DataListener[];
    if (driver === undefined) throw new Error('nothing reads from this connection');
    const rowsOf = copiedRows();
    const read: DataListener = (chunk) => {
      const { text, rest } = rowsOf(chunk);
      if (!this.#add(text)) socket.pause();
      if (rest === undefined) return release(chunk);
      this.#resume = undefined;
      socket.off('data', read).on('data', driver).resume();
      driver(rest);
    };
    this.#resume = () => socket.resume();
    socket.off('data', driver).on('data', read);
    connection.query(this.#statement);
  }

  /** Returns whether more is wanted. */
  #add(text: Buffer): boolean {
    let isWanted = true;
    for (let at = 0; at < text.length; ) {
      if (this.#page.length === 0) this.#page = Buffer.allocUnsafeSlow(PAGE_BYTES);
      const copied = text.copy(this.#page, this.#used, at);
      at += copied;
      this.#used += copied;
      if (this.#used === PAGE_BYTES) isWanted = this.#pushPage();
    }
    return isWanted;
  }

  #pushPage(): boolean {
    const page = this.#page.subarray(0, this.#used);
    this.#page = Buffer.alloc(0);
    this.#used = 0;
    return this.push(page);
  }

  override _read(): void {
    this.#resume?.();
  }

  // The methods that the driver calls on a query for the messages after the last row.

  handleError(error: Error): void {
    this.destroy(error);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.rowCount = Number(/^COPY (\d+)$/.exec(text)?.[1]);
  }

  handleReadyForQuery(): void {
    if (this.#used > 0) this.#pushPage();
    this.push(null);
  }
}

/**
 * Frees the memory of a buffer that nobody reads any more. The garbage collector would free it too, but repeatedly
 * walks the whole heap for that, which took nearly half of a backup's processor time.
 */
export function release(buffer: Buffer): void {
  const { buffer: memory, byteLength } = buffer;
  // Small buffers share their memory with others.
  if (memory instanceof ArrayBuffer && memory.byteLength === byteLength) memory.transfer(0);
}
