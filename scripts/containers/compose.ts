/** Docker Compose: the installed plugin, or one that is built once from its Go module. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ended } from './docker.ts';
import { CACHE } from './engine.ts';
import { buildGoPrograms } from './go-programs.ts';

const MODULE = 'github.com/docker/compose/v2';
const VERSION = 'v2.40.3';
const BUILT = join(CACHE, 'cli-plugins', 'docker-compose');

/** The command line of Compose. Undefined if it is neither installed nor may be built. */
export async function composeCommand(mayBuild: boolean): Promise<readonly string[] | undefined> {
  if ((await ended('docker', ['compose', 'version'])).code === 0) return ['docker', 'compose'];
  if (existsSync(BUILT)) return [BUILT];
  if (!mayBuild) return undefined;
  console.log(`Building Compose ${VERSION} of its module …`);
  await build();
  return [BUILT];
}

function build(): Promise<void> {
  return buildGoPrograms({
    module: `${MODULE}@${VERSION}`,
    folder: join(CACHE, 'work', 'compose'),
    programs: { [BUILT]: './cmd' },
    flags: `-X ${MODULE}/internal.Version=${VERSION}`,
    env: { GOFLAGS: '-p=1', GOMAXPROCS: '1' },
  });
}
