import { isOutage } from './failures.ts';

/**
 * Applies items in order, all together if that succeeds. A failure that is attributed to an item halves them until the
 * faulty item is found. That one is set aside, and all others take effect. An outage is thrown, because it says nothing
 * about any item.
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
