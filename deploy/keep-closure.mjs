/**
 * Leaves of a workspace what one service needs to run: its own folder, and those that it depends on,
 * directly or not. `node deploy/keep-closure.mjs identity`, in the workspace's root.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';

const USAGE_EXIT = 2;

const [service = ''] = process.argv.slice(2);
const folders = ['packages', 'services'].flatMap((kind) =>
  readdirSync(kind)
    .map((name) => `${kind}/${name}`)
    .filter((folder) => existsSync(`${folder}/package.json`)),
);
const manifests = new Map(
  folders.map((folder) => [folder, JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))]),
);
const folderOf = new Map(folders.map((folder) => [manifests.get(folder).name, folder]));

if (!folders.includes(`services/${service}`)) {
  console.error('SERVICE has to name a folder of services/.');
  process.exit(USAGE_EXIT);
}
const kept = new Set([`services/${service}`]);
for (const folder of kept) {
  for (const name of Object.keys(manifests.get(folder).dependencies ?? {})) {
    const needed = folderOf.get(name);
    if (needed !== undefined) kept.add(needed);
    else if (name.startsWith('@cardea/')) throw new Error(`${name} is not in the workspace.`);
  }
}
for (const folder of folders) {
  if (!kept.has(folder)) rmSync(folder, { recursive: true });
}
