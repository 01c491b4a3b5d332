import { outsideTransactions } from '@cardea/runtime';

/**
 * Collects what is added in one turn of the event loop, and passes it on together. `joining` may add more just before
 * that.
 */
export function perTurn<T>(
  send: (all: readonly T[]) => Promise<void>,
  joining: () => void = () => {},
): (each: T) => void {
  let waiting: T[] = [];
  const flush = (): void => {
    joining();
    const all = waiting;
    waiting = [];
    void send(all);
  };
  return (each) => {
    if (waiting.length === 0) outsideTransactions(() => setImmediate(flush));
    waiting.push(each);
  };
}
