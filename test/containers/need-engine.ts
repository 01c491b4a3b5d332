/** For tests on a container engine: skipped by name unless the run asks for them and what they need is there. */
import { beforeAll, beforeEach } from 'vitest';
import { type Base, bases } from '../../scripts/containers/bases.ts';
import { composeCommand } from '../../scripts/containers/compose.ts';
import { engineVersion, HOW_TO_GET_ONE } from '../../scripts/containers/engine.ts';

export type Needed = { readonly compose: readonly string[]; readonly bases: readonly Base[] };

/** `all` of `npm run test:containers`; `cached`: what takes minutes, where nothing has to be made first. */
const asked = process.env['CARDEA_CONTAINERS'] ?? '';
const PREPARE = 'npm run test:containers prepares them, once';

/** Throws where something is missing; `found` says undefined then, for hooks, which run all the same. */
type EngineNeeded = (() => Needed) & { readonly found: () => Needed | undefined };

/** Call it once, at the top of a file; read the answer in hooks and tests. */
export function needEngine(): EngineNeeded {
  let found: Needed | undefined;
  let missing: string | undefined;
  beforeAll(async () => {
    missing = asked === '' ? 'only npm run test:containers plays it' : undefined;
    if (missing === undefined && (await engineVersion()) === undefined) missing = HOW_TO_GET_ONE;
    if (missing !== undefined) return;
    const [compose, images] = [await composeCommand(false), await bases(false)];
    if (compose === undefined) missing = `no Docker Compose: ${PREPARE}`;
    else if (images === undefined) missing = `base images are not in the cache: ${PREPARE}`;
    else found = { compose, bases: images };
  });
  beforeEach((context) => {
    if (missing !== undefined) context.skip(missing);
  });
  const needed = (): Needed => {
    if (found === undefined) throw new Error(missing ?? 'asked too early');
    return found;
  };
  return Object.assign(needed, { found: () => found });
}

/** Takes longer than a run of everything may: `npm run test:containers` alone plays it. */
export const isWhole = asked === 'all';
