import { isOutage } from './failures.ts';

/**
 * Applies items in order, together where that succeeds. A failure that blames an item halves them until the
 * guilty one is found: that one is set aside, and all others take effect. An outage is thrown, because it
 * blames none of them.
 */
export async function applyOrSetAside<Item>(
  items: readonly Item[],
  to: {
    readonly apply: (items: readonly Item[]) => Promise<void>;
    readonly setAside: (item: Item, error: unknown) => Promise<void>;
  },
): Promise<void> {
  try {
    await to.apply(items);
  } catch (error) {
    const [only] = items;
    if (only === undefined || isOutage(error)) throw error;
    if (items.length === 1) {
      await to.setAside(only, error);
      return;
    }
    const middle = Math.ceil(items.length / 2);
    await applyOrSetAside(items.slice(0, middle), to);
    await applyOrSetAside(items.slice(middle), to);
  }
}
