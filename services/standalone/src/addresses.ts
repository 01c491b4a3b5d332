/** Where a running instance answers, written into its data folder for the commands beside it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type Addresses = { readonly pid: number; readonly api: string; readonly management: string };

const FILE = 'instance.json';
const OWNER_ONLY = 0o600;

export function writeAddresses(folder: string, addresses: Addresses): void {
  writeFileSync(join(folder, FILE), `${JSON.stringify(addresses)}\n`, { mode: OWNER_ONLY });
}

/** Of the last one that ran; whether it still does, the folder's lock tells. */
export function readAddresses(folder: string): Addresses | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, FILE), 'utf8')) as Addresses;
  } catch {
    return undefined;
  }
}
