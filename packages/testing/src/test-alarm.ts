import type { CacheAlarm } from '@cardea/runtime';

/** An alarm between the caches of one test. It reaches all at once. */
export function testAlarm(): CacheAlarm {
  const listeners = new Set<() => void>();
  return {
    raise: async () => {
      for (const listener of [...listeners]) listener();
    },
    onRaised: (listener) => {
      const own = (): void => listener();
      listeners.add(own);
      return () => {
        listeners.delete(own);
      };
    },
  };
}
