import { fakeClock } from '@cardea/runtime';
import { expect, it } from 'vitest';
import { peerChanges } from './peer-changes.ts';

function changes() {
  const clock = fakeClock('2026-11-23T00:00:00Z');
  const logged: string[] = [];
  const write = (level: string) => (_: object, message: string) =>
    logged.push(`${level}: ${message}`);
  const log = { info: write('info'), warn: write('warn') };
  return { clock, logged, seen: peerChanges('identity', { clock, log }) };
}
const NOT_YET = 'info: another service is not there yet';
const AWAY = 'warn: another service does not answer';
const BACK = 'info: another service answers again';

it('says nothing of a service that answers', () => {
  const { logged, seen } = changes();
  for (let call = 0; call < 3; call += 1) seen('answers');
  expect(logged).toEqual([]);
});

it('warns once of a service that has answered and does no more', () => {
  const { logged, seen } = changes();
  for (const each of ['answers', 'silent', 'silent', 'answers', 'silent'] as const) seen(each);
  expect(logged).toEqual([AWAY, BACK, AWAY]);
});

it('does not warn of a service that starts within a minute', async () => {
  const { clock, logged, seen } = changes();
  seen('silent');
  await clock.advance(59_000);
  seen('silent');
  seen('answers');
  expect(logged).toEqual([NOT_YET, BACK]);
});

it('warns of a service that never came', async () => {
  const { clock, logged, seen } = changes();
  seen('silent');
  await clock.advance(60_000);
  seen('silent');
  expect(logged).toEqual([NOT_YET, AWAY]);
});
