/** Second factors of users: enrolled and removed by themselves, shown when they sign in. */
import type { Module, ServiceDependencies } from '@cardea/service';
import { importUsersRoute, type UserDirectory } from '../accounts/accounts.module.ts';
import { readTotpSecret } from '../adapters/totp.ts';
import type { Workspaces } from '../workspaces/workspaces.module.ts';
import { factors } from './factors/factor.ts';
import { listFactorsRoute } from './factors/list/list.route.ts';
import { listPasskeysRoute } from './factors/passkeys/list-passkeys.route.ts';
import { addPasskeyRoute, passkeyOptionsRoute } from './factors/passkeys/passkeys.route.ts';
import { renamePasskeyRoute } from './factors/passkeys/rename-passkey.route.ts';
import { recoveryCodesRoute } from './factors/recovery-codes/recovery-codes.route.ts';
import { removeFactorRoute, removePasskeyRoute } from './factors/remove/remove.route.ts';
import { confirmTotpRoute, enrolTotpRoute } from './factors/totp/totp.route.ts';
import { factorsRelay } from './factors-relay.ts';
import { type Passkeys, passkeys } from './passkeys.ts';
import { type SecondFactors, secondFactors } from './second-factors.ts';

export type { FactorEvent } from './factors/factor.ts';
export { hasHostedPasskeys, type Passkeys } from './passkeys.ts';
export type { SecondFactors } from './second-factors.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'cache' | 'clock' | 'command' | 'ids' | 'limits' | 'random' | 'sealer' | 'settings' | 'streams'
> & {
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'emailOf'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
};

/** What importing people needs, who bring their second factors. */
type Importing = Omit<Parameters<typeof importUsersRoute>[0], 'readTotpSecret' | 'importTotp'>;

export function factorsModule(given: Dependencies & Importing): {
  readonly module: Module;
  readonly secondFactors: SecondFactors;
  readonly passkeys: Passkeys;
} {
  const needs = { ...given, secondFactors: secondFactors(given), passkeys: passkeys(given) };
  const module: Module = {
    endpoints: [
      listFactorsRoute(needs),
      enrolTotpRoute(needs),
      confirmTotpRoute(needs),
      recoveryCodesRoute(needs),
      removeFactorRoute(needs),
      passkeyOptionsRoute(needs),
      addPasskeyRoute(needs),
      listPasskeysRoute(needs),
      renamePasskeyRoute(needs),
      removePasskeyRoute(needs),
      importUsersRoute({ ...needs, readTotpSecret, importTotp: needs.secondFactors.importTotp }),
    ],
    relay: factorsRelay,
  };
  return { module, secondFactors: needs.secondFactors, passkeys: needs.passkeys };
}

export const factorsStreams = [factors];
