/** Second factors of users: enrolled and removed by themselves, shown when they sign in. */
import type { Module, ServiceDependencies } from '@cardea/service';
import type { UserDirectory } from '../accounts/accounts.module.ts';
import type { Workspaces } from '../workspaces/workspaces.module.ts';
import { factors } from './factors/factor.ts';
import { listFactorsRoute } from './factors/list/list.route.ts';
import { recoveryCodesRoute } from './factors/recovery-codes/recovery-codes.route.ts';
import { removeFactorRoute } from './factors/remove/remove.route.ts';
import { confirmTotpRoute, enrolTotpRoute } from './factors/totp/totp.route.ts';
import { factorsRelay } from './factors-relay.ts';
import { type SecondFactors, secondFactors } from './second-factors.ts';

export type { SecondFactors } from './second-factors.ts';
export { counted } from './self-service.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'clock' | 'command' | 'ids' | 'limits' | 'random' | 'sealer' | 'streams'
> & {
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'emailOf'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
};

export function factorsModule(given: Dependencies): {
  readonly module: Module;
  readonly secondFactors: SecondFactors;
} {
  const needs = { ...given, secondFactors: secondFactors(given) };
  const module: Module = {
    endpoints: [
      listFactorsRoute(needs),
      enrolTotpRoute(needs),
      confirmTotpRoute(needs),
      recoveryCodesRoute(needs),
      removeFactorRoute(needs),
    ],
    relay: factorsRelay,
  };
  return { module, secondFactors: needs.secondFactors };
}

export const factorsStreams = [factors];
