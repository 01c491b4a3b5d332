import { join } from 'node:path';
import { processFixture, type RestDriver, testDatabase, testForm } from '@cardea/testing';
import { expect, it } from 'vitest';
import { chance } from './chance.ts';
import { instance } from './instance.ts';
import { expectClean, mixedWrites } from './writes.ts';

const KILLS = testForm.long ? 300 : 2;
const LIFE_MS_MIN = 1000;
const LIFE_MS_SPREAD = 2500;
/** Time for one life and one start of a process, on a busy machine. */
const KILL_MS_MAX = 60_000;
/** Time until everything has arrived and was checked. */
const LOOK_MS_MAX = 240_000;

const fixture = processFixture();
const database = testDatabase();

it('R1 SIGKILL at random moments under mixed writes loses nothing that was acknowledged and doubles nothing', {
  timeout: KILLS * KILL_MS_MAX + LOOK_MS_MAX,
}, async () => {
  const random = chance();
  const cardea = await instance(fixture, { DATABASE_URL: database.url });
  let running = await cardea.start();
  let rest: RestDriver = cardea.rest.as(await cardea.admin());
  const load = mixedWrites(join(cardea.folder, 'acked'), () => rest);
  for (let kill = 1; kill <= KILLS; kill++) {
    const lifeMs = random.ms(LIFE_MS_MIN, LIFE_MS_SPREAD);
    await new Promise((resolve) => setTimeout(resolve, lifeMs));
    await running.end('SIGKILL');
    running = await cardea.start();
    rest = cardea.rest.as(await cardea.admin());
  }
  await load.stop();
  await expectClean(rest, load);
  expect(await running.end('SIGTERM')).toBe(0);
});
