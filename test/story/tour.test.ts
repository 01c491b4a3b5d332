import { startFakeEventStore, temporaryInstance, testDatabase } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { phone } from '../../scripts/tour/phone.ts';
import { player } from '../../scripts/tour/player.ts';
import { playStory } from '../../scripts/tour/story.ts';
import { CHEAP_HASHES } from '../faults/instance.ts';

const quiet = (): void => undefined;
const database = testDatabase();

describe('the story', () => {
  it('Q5 holds at every step with its events in EventStoreDB, as far as its stand-in goes', async () => {
    const standIn = await startFakeEventStore();
    // Undefined without Chromium. Then the user decides over the API.
    const bobs = await phone();
    const instance = await temporaryInstance(quiet, {
      ...CHEAP_HASHES,
      DATABASE_URL: database.url,
      EVENTSTORE_URL: standIn.url,
    });
    try {
      await playStory(player(instance.base, quiet), instance.base, bobs);
      expect(standIn.calls('append')).toBeGreaterThan(0);
      expect(standIn.calls('batchAppend')).toBe(0);
    } finally {
      await bobs?.close();
      await instance.stop();
      await standIn.stop();
    }
  });
});
