/** Tests the compose file in its other forms, and plays the product's story in each. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { docker } from '../../scripts/containers/docker.ts';
import { SERVICES } from '../deploy/rules/rule.ts';
import { type Deployment, deployment, keepLogs } from './deployment.ts';
import { isWhole, needEngine } from './need-engine.ts';

const needed = needEngine();
let up: Deployment | undefined;

afterEach(async ({ task }) => {
  if (up === undefined) return;
  if (task.result?.state === 'fail') await keepLogs(up, `containers-${task.id}`);
  await up.down();
  up = undefined;
});

/** Starts the form and plays the tour. */
async function started(
  settings: { readonly [name: string]: string },
  files?: readonly string[],
): Promise<Deployment> {
  up = await deployment(needed().compose, needed().bases, settings, files);
  await up.compose('up', '--wait', '--detach');
  const told = await up.compose('run', '--rm', '--no-deps', '--no-TTY', 'tour');
  expect(told).toContain('Every step answered as the story says.');
  return up;
}

describe.runIf(isWhole)('the compose file', () => {
  it('keeps events in EventStoreDB, as far as its fake goes', async () => {
    const { containers } = await started({
      COMPOSE_PROFILES: 'dev,eventstore',
      EVENTSTORE_URL: 'esdb://eventstore:2113?tls=false',
    });
    expect(await containers('eventstore')).toHaveLength(1);
  });

  it('gives services secrets and logins of their own, and those of the deployment to none', async () => {
    const files = ['docker-compose.yml', 'deploy/compose.compartments.yaml'];
    const { containers, secrets } = await started({}, files);
    const shared = ['JWT_SECRET', 'ENCRYPTION_KEY', 'DATABASE_PASSWORD', 'REDIS_PASSWORD'].map(
      (name) => readFileSync(join(secrets, name), 'utf8'),
    );
    for (const { id, service } of await containers()) {
      if (!(SERVICES as readonly string[]).includes(service)) continue;
      const read = 'cat /run/own/*; cat /run/secrets/* 2>/dev/null; true';
      const known = await docker('exec', id, 'sh', '-c', read);
      expect(known.length, service).toBeGreaterThan(200);
      expect(shared.filter((secret) => known.includes(secret)).length, service).toBe(0);
    }
  });
});
