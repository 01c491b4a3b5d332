import { SERVICE_NAMES, type ServiceName } from '@cardea/contracts';
import { deriveFrom } from '@cardea/crypto';
import { secret } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { internalBearers, internalSecretsOf } from './internal-bearer.ts';

const deriveOf = (current: string, previous?: string) =>
  deriveFrom({
    JWT_SECRET: secret(current),
    JWT_SECRET_PREVIOUS: previous === undefined ? undefined : secret(previous),
    ENCRYPTION_KEY: secret('0'.repeat(64)),
    ENCRYPTION_KEY_PREVIOUS: undefined,
  });
const ROOT = deriveOf('the secret of the deployment, long enough');
/** The settings of a process that was given its own secrets, and none of the deployment's. */
const own = (name: ServiceName, derive = ROOT) => {
  const { INTERNAL_KEY, INTERNAL_BEARERS } = internalSecretsOf(derive, name);
  const settings = {
    INTERNAL_KEY: secret(INTERNAL_KEY),
    INTERNAL_BEARERS: secret(INTERNAL_BEARERS),
  };
  return internalBearers({ derive: deriveOf('a secret of its own, long enough'), settings }, [
    name,
  ]);
};
const CALLERS: { readonly [callee in ServiceName]: readonly ServiceName[] } = {
  identity: SERVICE_NAMES,
  approval: ['vault'],
  authz: ['approval', 'vault'],
  vault: [],
  webhooks: [],
  audit: [],
};
const pairs = SERVICE_NAMES.flatMap((callee) =>
  SERVICE_NAMES.map((caller) => ({ callee, caller, may: CALLERS[callee].includes(caller) })),
);

describe('S25 bearers by pair', () => {
  it.each(pairs)('S25 let $caller call $callee: $may, whatever bearer it shows', (of) => {
    const { callee, caller, may } = of;
    const shown = SERVICE_NAMES.flatMap(own(caller).to).map((bearer) => `Bearer ${bearer}`);
    for (const listener of [own(callee), internalBearers({ derive: ROOT }, [callee])]) {
      expect(shown.some(listener.accepts)).toBe(may);
      expect(shown.some(listener.acceptsTools)).toBe(false);
    }
  });

  it('S25 let the command line change levels, and call nobody', () => {
    const { to } = internalBearers({ derive: ROOT }, [], 'cardea');
    for (const name of SERVICE_NAMES) {
      const listener = own(name);
      expect(listener.acceptsTools(`Bearer ${to(name)[0]}`)).toBe(true);
      expect(listener.accepts(`Bearer ${to(name)[0]}`)).toBe(false);
      const others = SERVICE_NAMES.filter((other) => other !== name);
      expect(others.map((other) => listener.acceptsTools(`Bearer ${to(other)[0]}`))).not.toContain(
        true,
      );
    }
  });

  it('S25 are two while the secret of the deployment is changed', () => {
    const rotating = deriveOf(
      'a new secret of the deployment, long enough',
      'the secret of the deployment, long enough',
    );
    for (const [caller, callee] of [
      [own('vault'), own('approval', rotating)],
      [own('vault', rotating), own('approval')],
    ] as const) {
      const shown = caller.to('approval').map((bearer) => `Bearer ${bearer}`);
      expect(shown.some(callee.accepts)).toBe(true);
    }
  });

  it('are taken beside the one bearer of the release before, by whoever can derive that', () => {
    const before = `Bearer ${ROOT('JWT_SECRET', 'internal/v1').current.toString('base64url')}`;
    expect(internalBearers({ derive: ROOT }, ['identity']).accepts(before)).toBe(true);
    expect(own('identity').accepts(before)).toBe(false);
  });
});
