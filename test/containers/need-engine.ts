/**
 * For tests on a container engine. They are skipped by name unless the run requests them and everything they need is
 * available.
 */
import { beforeAll, beforeEach } from 'vitest';
import { type Base, bases } from '../../scripts/containers/bases.ts';
import { composeCommand } from '../../scripts/containers/compose.ts';
import { engineVersion, HOW_TO_GET_ONE } from '../../scripts/containers/engine.ts';

export type Needed = { readonly compose: readonly string[]; readonly bases: readonly Base[] };

/**
 * `all` is set by `npm run test:containers`. `cached` selects the tests that take minutes, if nothing has to be built
 * first.
 */
const asked = process.env['CARDEA_CONTAINERS'] ?? '';
const PREPARE = 'npm run test:containers prepares them, once';

/** Throws if something is missing. `found` then returns undefined, for hooks, which run in any case. */
type EngineNeeded = (() => Needed) & { readonly found: () => Needed | undefined };

/** Call it once, at the top of a file, and use the result in hooks and tests. */
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

/** Takes longer than a run of everything may, so only `npm run test:containers` plays it. */
export const isWhole = asked === 'all';
