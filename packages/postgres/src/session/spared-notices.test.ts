import { describe, expect, it } from 'vitest';
import { sparedNotices } from './other-processes.ts';

/** Other processes that come and go, and the notices that they receive. */
function world() {
  const listeners = new Set<() => void>();
  const told: (readonly string[])[] = [];
  let arePossible = false;
  let fails = false;
  const notices = sparedNotices(
    {
      arePossible: () => arePossible,
      onHeard: (listener) => {
        listeners.add(listener);
        return () => {
          listeners.delete(listener);
        };
      },
    },
    async (subjects) => {
      if (fails) throw new Error('away');
      told.push(subjects);
    },
  );
  return {
    notices,
    told,
    failing: (now: boolean) => {
      fails = now;
    },
    alone: () => {
      arePossible = false;
    },
    joined: async () => {
      arePossible = true;
      for (const listener of listeners) listener();
      await Promise.resolve();
    },
  };
}

describe('notices for other processes', () => {
  it('are due while others are possible, and then need no second one', async () => {
    const { notices, told, joined } = world();
    expect(notices.areDue()).toBe(false);
    await joined();
    expect(notices.areDue()).toBe(true);
    notices.committed('identity', true);
    expect(told).toEqual([]);
  });

  it('that were spared are sent to the first that joins, each subject once', async () => {
    const { notices, told, joined, alone } = world();
    notices.committed('identity', false);
    notices.committed('identity', false);
    notices.committed('vault', false);
    expect(told).toEqual([]);
    await joined();
    expect(told).toEqual([['identity', 'vault']]);
    alone();
    await joined();
    expect(told).toHaveLength(1);
  });

  it('are sent at once when others came between a statement and its commit', async () => {
    const { notices, told, joined } = world();
    const due = notices.areDue();
    await joined();
    notices.committed('identity', due);
    expect(told).toEqual([['identity']]);
  });

  it('that could not be sent are sent after the next commit', async () => {
    const { notices, told, joined, failing } = world();
    notices.committed('identity', false);
    failing(true);
    await joined();
    failing(false);
    await Promise.resolve();
    notices.committed('vault', true);
    expect(told).toEqual([['identity']]);
  });

  it('are not sent any more after their end', async () => {
    const { notices, told, joined } = world();
    notices.committed('identity', false);
    notices.end();
    await joined();
    expect(told).toEqual([]);
  });
});
