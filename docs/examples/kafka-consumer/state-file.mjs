/**
 * State in one file that is replaced as a whole: after a crash it holds all effects of a batch and the
 * positions that belong to them, or none. A database does the same with a transaction.
 */
import { open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { EMPTY_STATE } from './apply.mjs';

export async function openStateFile(path) {
  let state = await readState(path);
  return {
    /** Does all of `work` to the state, durably, or nothing of it: a throw leaves memory and file as they were. */
    change: async (work) => {
      const next = structuredClone(state);
      work(next);
      await writeDurably(`${path}.next`, JSON.stringify(next));
      await rename(`${path}.next`, path);
      await sync(dirname(path));
      state = next;
    },
  };
}

async function readState(path) {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return structuredClone(EMPTY_STATE);
  }
}

async function writeDurably(path, text) {
  const file = await open(path, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes the new name of the file as durable as its content. */
async function sync(folder) {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
