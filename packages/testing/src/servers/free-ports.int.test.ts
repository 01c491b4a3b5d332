import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { freePorts } from './free-ports.ts';

const AT_ONCE = 200;

it('finds no port twice, not even for two who look at once', async () => {
  const [some, others] = await Promise.all([freePorts(AT_ONCE), freePorts(AT_ONCE)]);
  expect(new Set([...some, ...others]).size).toBe(2 * AT_ONCE);
});

it('keeps its ports from other processes', async () => {
  const ours = new Set(await freePorts(AT_ONCE));
  const module = new URL('free-ports.ts', import.meta.url).href;
  const script = `import { freePorts } from ${JSON.stringify(module)};
    const found = new Set();
    for (let n = 0; n < 30; n += 1) for (const port of await freePorts(20)) found.add(port);
    console.log(JSON.stringify([...found]));`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script]);
  const theirs = JSON.parse(stdout.toString('utf8')) as readonly number[];
  expect(theirs).toHaveLength(600);
  expect(theirs.filter((port) => ours.has(port))).toEqual([]);
});
