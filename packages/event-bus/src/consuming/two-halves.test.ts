import type { IntegrationEvent } from '@cardea/contracts';
import { describe, expect, it } from 'vitest';
import { inTwoHalves, MovedMeanwhile, PREPARED_ROUNDS_MAX } from './two-halves.ts';

const eventOf = (id: string) => ({ id }) as IntegrationEvent;

/** Halves that record their calls. Each read of due events returns the next entry, and then the last one repeatedly. */
function halves(looks: readonly (readonly string[])[]) {
  const steps: string[] = [];
  const left = [...looks];
  const look = (): readonly IntegrationEvent[] =>
    ((left.length > 1 ? left.shift() : left[0]) ?? []).map(eventOf);
  const names = (events: readonly IntegrationEvent[]) => events.map(({ id }) => id).join('');
  return {
    steps,
    due: async () => look(),
    prepare: async (events: readonly IntegrationEvent[]) =>
      void steps.push(`prepare ${names(events)}`),
    apply: async (isPrepared: (event: IntegrationEvent) => boolean) => {
      const events = look();
      if (!events.every(isPrepared)) {
        steps.push('back');
        throw new MovedMeanwhile();
      }
      steps.push(`apply ${names(events)}`);
      return events;
    },
  };
}

describe('the two halves of a consumer', () => {
  it('come one after the other, over the same events', async () => {
    const work = halves([['a', 'b']]);
    expect(await inTwoHalves(work)).toEqual([eventOf('a'), eventOf('b')]);
    expect(work.steps).toEqual(['prepare ab', 'apply ab']);
  });

  it('leave out what another process has applied meanwhile', async () => {
    const work = halves([['a', 'b'], ['b']]);
    await inTwoHalves(work);
    expect(work.steps).toEqual(['prepare ab', 'apply b']);
  });

  it('start again when more is due than was prepared', async () => {
    const work = halves([['a'], ['a', 'b'], ['a', 'b']]);
    await inTwoHalves(work);
    expect(work.steps).toEqual(['prepare a', 'back', 'prepare ab', 'apply ab']);
  });

  it('prepare nothing where nothing is due, and still apply: the position moves on', async () => {
    const work = halves([[]]);
    await inTwoHalves(work);
    expect(work.steps).toEqual(['apply ']);
  });

  it('never apply what could not be prepared', async () => {
    const work = { ...halves([['a']]), prepare: async () => Promise.reject(new Error('poison')) };
    await expect(inTwoHalves(work)).rejects.toThrow('poison');
    expect(work.steps).toEqual([]);
  });

  it('give the batch back when others always get between', async () => {
    let count = 0;
    const work = { ...halves([]), due: async () => [eventOf(String(count++))] };
    const apply = async (isPrepared: (event: IntegrationEvent) => boolean) => {
      if (!isPrepared(eventOf(String(count)))) throw new MovedMeanwhile();
      return [];
    };
    await expect(inTwoHalves({ ...work, apply })).rejects.toThrow(MovedMeanwhile);
    expect(work.steps).toHaveLength(PREPARED_ROUNDS_MAX);
  });
});
