import { type Instance, temporaryInstance, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { player } from '../../scripts/tour/player.ts';
import { playStory } from '../../scripts/tour/story.ts';
import { expressions, seriesIn } from '../deploy/alert-files.ts';

const quiet = (): void => undefined;
const START_MS_MAX = 400_000;
const SCRAPED_MS_MAX = 60_000;

/** Series that Prometheus adds about the scrape. */
const NOT_OURS = ['up'];
const LABELS = [
  'command consumer error_type gc kind le loop log major method minor name outcome patch pool',
  'projection quantile route rule space status topic type version',
].flatMap((line) => line.split(' '));
/** The forms of an id, an address, a mail address or a token. */
const ID =
  /[0-9a-f]{8}-[0-9a-f]{4}|[0-9a-f]{16}|@|\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}|[A-Za-z0-9+/]{32}|:\d{4,5}\b/;

type Sample = { readonly name: string; readonly labels: readonly (readonly [string, string])[] };

const samplesIn = (text: string): readonly Sample[] =>
  text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = ''] = /^([a-z0-9_]+)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
      const pairs = [...labels.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)];
      return { name, labels: pairs.map(([, label = '', value = '']) => [label, value] as const) };
    });

function missingIn(samples: readonly Sample[]): readonly string[] {
  const there = new Set(samples.map(({ name }) => name));
  const wanted = new Set(expressions.flatMap(seriesIn));
  return [...wanted].filter((name) => !there.has(name) && !NOT_OURS.includes(name));
}

let instance: Instance;
beforeAll(async () => {
  instance = await temporaryInstance(quiet);
}, START_MS_MAX);
afterAll(() => instance?.stop());

it('Q5 the story holds at every step against a fresh instance', async () => {
  await playStory(player(instance.base, quiet), instance.base);
});

describe('O10 the metrics of an instance that has been used', () => {
  let samples: readonly Sample[] = [];
  beforeAll(async () => {
    // A scrape does not wait for slow values, so a first one may lack what a later one has.
    await untilTrue(
      async () => {
        const text = await (await fetch(new URL('/metrics', instance.management))).text();
        samples = samplesIn(text);
        return missingIn(samples).length === 0;
      },
      { deadlineMs: SCRAPED_MS_MAX, what: 'all series are there' },
    ).catch(() => undefined); // The first test reports what is missing.
  });

  it('are all that alarms and dashboard name', () => {
    expect(missingIn(samples)).toEqual([]);
  });

  it('have labels out of closed sets, and never an id in one', () => {
    expect(samples.filter(({ name }) => name === '')).toEqual([]);
    const all = samples.flatMap(({ name, labels }) => labels.map((label) => [name, ...label]));
    expect(all.filter(([, label = '']) => !LABELS.includes(label))).toEqual([]);
    expect(all.filter(([, , value = '']) => ID.test(value))).toEqual([]);
  });

  it('are few enough to be kept', () => {
    expect(samples.length).toBeLessThan(5_000);
  });
});
