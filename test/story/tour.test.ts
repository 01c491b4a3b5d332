import { describe, it } from 'vitest';
import { player } from '../../scripts/tour/player.ts';
import { playStory } from '../../scripts/tour/story.ts';
import { temporaryInstance } from '../../scripts/tour/temporary-instance.ts';

const quiet = (): void => undefined;

describe('the story', () => {
  it('Q5 holds at every step against a fresh instance', async () => {
    const instance = await temporaryInstance(quiet);
    try {
      await playStory(player(instance.base, quiet), instance.base);
    } finally {
      await instance.stop();
    }
  });
});
