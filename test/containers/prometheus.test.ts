/** Tests alarms and dashboard with a real Prometheus, over an instance that has been used. */
import { resolve } from 'node:path';
import { type Instance, temporaryInstance, untilTrue } from '@cardea/testing';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { output } from '../../scripts/containers/docker.ts';
import {
  isPrometheusBuilt,
  PROMTOOL,
  type Prometheus,
  startPrometheus,
} from '../../scripts/containers/prometheus.ts';
import { player } from '../../scripts/tour/player.ts';
import { playStory } from '../../scripts/tour/story.ts';
import { alerts, expressions } from '../deploy/alert-files.ts';

const RULES = resolve('deploy/prometheus/alerts.yaml');
const SCRAPED_MS_MAX = 120_000;
const quiet = (): void => undefined;

const ends: (() => Promise<void>)[] = [];
beforeEach((context) => {
  const how = 'npm run test:containers -- --build-prometheus';
  if (!isPrometheusBuilt()) context.skip(`no Prometheus: ${how}`);
});
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
});

it('are accepted, with the configuration of the compose file', async () => {
  const config = ['check', 'config', '--syntax-only', 'deploy/prometheus/prometheus.yaml'];
  expect(await output(PROMTOOL, config)).toContain('is valid prometheus config file syntax');
  const rules = ['check', 'rules', '--lint=all', '--lint-fatal', RULES];
  expect(await output(PROMTOOL, rules)).toContain(`${alerts.length} rules found`);
});

it('O10 are computed without an error over an instance that has been used', async () => {
  const { instance, prometheus } = await scraped();
  await playStory(player(instance.base, quiet), instance.base);
  for (const query of expressions) {
    const { resultType } = await prometheus.ask<{ resultType: string }>('query', { query });
    expect(resultType, query).toBe('vector');
  }
  const rules = await untilTrue(
    async () => {
      const { groups } = await prometheus.ask<{ groups: { rules: Rule[] }[] }>('rules');
      const all = groups.flatMap((group) => group.rules);
      return all.every(({ health }) => health !== 'unknown') ? all : undefined;
    },
    { deadlineMs: SCRAPED_MS_MAX, what: 'all rules were computed' },
  );
  expect(rules.map(({ name }) => name).toSorted()).toEqual(
    alerts.map(({ alert }) => alert).toSorted(),
  );
  expect(rules.filter(({ health }) => health !== 'ok')).toEqual([]);
});

type Rule = { readonly name: string; readonly health: string };

async function scraped(): Promise<{ instance: Instance; prometheus: Prometheus }> {
  const instance = await temporaryInstance(quiet);
  ends.push(() => instance.stop());
  const prometheus = await startPrometheus(
    stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [RULES],
      scrape_configs: [
        {
          job_name: 'cardea',
          static_configs: [{ targets: [new URL(instance.management).host] }],
        },
      ],
    }),
  );
  ends.push(() => prometheus.stop());
  await untilTrue(
    async () => {
      const { result } = await prometheus.ask<{ result: { value: [number, string] }[] }>('query', {
        query: 'up',
      });
      return result.some(({ value: [, up] }) => up === '1');
    },
    { deadlineMs: SCRAPED_MS_MAX, what: 'the instance is scraped' },
  );
  return { instance, prometheus };
}
