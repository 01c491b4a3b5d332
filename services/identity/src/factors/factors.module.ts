/** Second factors of users: users enrol and remove them, and sign-ins verify them. */
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
export { SecondFactor, shownFactors } from './factors/list/list.route.ts';
export { hasHostedPasskeys, type Passkeys } from './passkeys.ts';
export type { SecondFactors } from './second-factors.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'cache' | 'clock' | 'command' | 'ids' | 'limits' | 'random' | 'sealer' | 'settings' | 'streams'
> & {
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'emailOf'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
};

/** Functions for the import of users with second factors. */
type Importing = Omit<Parameters<typeof importUsersRoute>[0], 'readTotpSecret' | 'importTotp'>;

export function factorsModule(given: Dependencies & Importing): {
  readonly module: Module;
  readonly secondFactors: SecondFactors;
  readonly passkeys: Passkeys;
  readonly selfService: ReturnType<typeof selfService>;
} {
  const needs = { ...given, secondFactors: secondFactors(given), passkeys: passkeys(given) };
  const own = selfService(needs);
  const module: Module = {
    endpoints: [
      ...Object.values(own),
      importUsersRoute({ ...needs, readTotpSecret, importTotp: needs.secondFactors.importTotp }),
    ],
    relay: factorsRelay,
  };
  return {
    module,
    secondFactors: needs.secondFactors,
    passkeys: needs.passkeys,
    selfService: own,
  };
}

/** Operations for the pages of a person's own account. */
const selfService = (
  needs: Parameters<typeof listFactorsRoute>[0] &
    Parameters<typeof enrolTotpRoute>[0] &
    Parameters<typeof addPasskeyRoute>[0] &
    Parameters<typeof removeFactorRoute>[0] &
    Parameters<typeof renamePasskeyRoute>[0] &
    Parameters<typeof recoveryCodesRoute>[0],
) => ({
  listFactors: listFactorsRoute(needs),
  enrolTotp: enrolTotpRoute(needs),
  confirmTotp: confirmTotpRoute(needs),
  recoveryCodes: recoveryCodesRoute(needs),
  removeFactor: removeFactorRoute(needs),
  passkeyOptions: passkeyOptionsRoute(needs),
  addPasskey: addPasskeyRoute(needs),
  listPasskeys: listPasskeysRoute(needs),
  renamePasskey: renamePasskeyRoute(needs),
  removePasskey: removePasskeyRoute(needs),
});

export const factorsStreams = [factors];
