/** Writers in separate processes, which end with the tests that started them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Log } from '@cardea/event-store';
import { programOf } from '@cardea/testing';
import { afterAll, expect } from 'vitest';
import type { Writer } from './appending.ts';

/** Call it inside a `describe`. `url` is called when a writer starts. */
export function writerProcesses(url: () => string) {
  const children: ChildProcess[] = [];
  afterAll(() => {
    for (const child of children) child.kill('SIGKILL');
  });

  const startWriter = async (log: Log, name: string): Promise<Writer> => {
    const script = programOf(new URL('./writer.ts', import.meta.url));
    const child = spawn(process.execPath, [script, url(), log, name], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    children.push(child);
    const closed = once(child, 'close');
    const acked = new Set<string>();
    const lines = createInterface({ input: child.stdout });
    const read = once(lines, 'close');
    lines.on('line', (line) => acked.add(line));
    await Promise.race([once(lines, 'line'), closed]);
    return {
      acked: () => acked,
      stop: async () => {
        child.stdin.end();
        const [code] = await closed;
        await read;
        expect(code).toBe(0);
      },
      kill: async () => {
        child.kill('SIGKILL');
        await closed;
        await read;
      },
    };
  };
  return { startWriter };
}
