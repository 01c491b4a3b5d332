import { expect, it } from 'vitest';
import { stopAll } from './running.ts';

it('stops all, the last first, though one fails, and throws its failure', async () => {
  const stopped: string[] = [];
  const part = (name: string, fault?: Error) => ({
    async stop() {
      stopped.push(name);
      if (fault !== undefined) throw fault;
    },
  });
  const parts = [part('table'), part('consumer', new Error('no database')), part('door')];

  await expect(stopAll(parts)).rejects.toThrow('no database');

  expect(stopped).toEqual(['door', 'consumer', 'table']);
});
