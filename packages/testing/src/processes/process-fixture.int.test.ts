import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { webhookSink } from '../fakes/webhook-sink.ts';
import { processFixture } from './process-fixture.ts';

const fixture = processFixture();
let folder: string;
let script: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cardea-fixture-'));
  script = join(folder, 'server.ts');
  const source = `const port: number = 1234;
    process.on('SIGTERM', () => { console.log('bye'); process.exit(7); });
    console.log('listens on ' + port);
    setInterval(() => undefined, 1000);`;
  writeFileSync(script, source);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('a process of the fixture', () => {
  it('is up when its line came, and ends on the signal it gets', async () => {
    const server = await fixture.start({ name: 'server', script, ready: /listens on (\d+)/ });
    expect(server.ready?.[1]).toBe('1234');
    expect(await server.end('SIGTERM')).toBe(7);
    expect(server.output()).toContain('bye');
  });

  it('dies without a word on SIGKILL', async () => {
    const server = await fixture.start({ name: 'server', script, ready: /listens/ });
    expect(await server.end()).toBe('SIGKILL');
    expect(server.output()).not.toContain('bye');
  });

  it('fails with its output when it ends before it was up', async () => {
    const start = fixture.start({
      name: 'broken',
      command: 'node',
      args: ['-e', 'throw "x"'],
      ready: /up/,
    });
    await expect(start).rejects.toThrow('broken ended (1)');
  });
});

it('remembers what a webhook sink was sent, and answers as told', async () => {
  const sink = await webhookSink();
  sink.answerWith(() => ({ status: 503 }));
  const response = await fetch(`${sink.url}/hook`, { method: 'POST', body: 'ünï' });
  expect(response.status).toBe(503);
  expect(await sink.waitFor(({ path }) => path === '/hook')).toMatchObject({
    method: 'POST',
    body: 'ünï',
  });
  await sink.close();
});
