/** Re-encrypts the keys that are wrapped under the previous ENCRYPTION_KEY and JWT_SECRET with the current ones. */
import type { ServiceName } from '@cardea/contracts';
import { deriveFrom, type Sealer, sealer, serviceSecrets, wrapKeys } from '@cardea/crypto';
import { identityOperations } from '@cardea/identity';
import { postgresSubjectKeys } from '@cardea/read-models';
import type { Settings } from '@cardea/runtime';
import { refuseForeignKeys, rewrapKeys } from '@cardea/service';
import { vaultOperations } from '@cardea/vault';
import { type Command, done, idOf, table } from '../command.ts';
import { type Deployment, dependenciesOf, wrappedIn } from '../deployment.ts';
import { NotDone, WrongUsage } from '../failures.ts';

export const keysRewrap: Command = {
  name: 'keys rewrap',
  summary:
    'Wraps every stored key under ENCRYPTION_KEY, and seals signing keys under JWT_SECRET; may be stopped and run again.',
  example: 'keys rewrap --per-service',
  options: {
    'per-service': {
      type: 'boolean',
      help: 'move the keys from the secrets of the deployment to the own secrets of each service',
    },
  },
  run: async ({ open, tell, options }) => {
    const deployment = await open();
    const perService = options['per-service'] === true;
    const secretsOf = perService
      ? (name: ServiceName) => movedToOwn(deployment.settings, name)
      : undefined;
    const wrapped = { ...wrappedIn(deployment), ...(secretsOf === undefined ? {} : { secretsOf }) };
    await refuseForeignKeys(wrapped);
    const tables: { readonly table: string; readonly rewrapped: number }[] = [];
    await rewrapKeys(wrapped, (name, rewrapped) => {
      tables.push({ table: name, rewrapped });
      if (rewrapped > 0) tell(`${name}: ${rewrapped}`, { table: name, rewrapped });
    });
    const needs = dependenciesOf(deployment, 'identity');
    const settings = perService ? movedToOwn(deployment.settings, 'identity') : needs.settings;
    const identity = {
      ...needs,
      settings,
      derive: deriveFrom(settings),
      sealer: sealerOf(deployment, settings),
    };
    const signing = await identityOperations(identity).resealKeys();
    const rows = tables.map((each) => [each.table, `${each.rewrapped} rows wrapped anew`]);
    return done([...table(rows), `${signing} signing keys sealed anew`], {
      tables,
      signing_keys: signing,
    });
  },
};

/** A sealer that decrypts keys under the current secret and keys that are not re-encrypted yet. */
const sealerOf = (deployment: Deployment, settings: Settings): Sealer => {
  const { database, clock, random } = deployment.shared();
  const table = postgresSubjectKeys(database, 'identity');
  return sealer({ table, keys: wrapKeys(settings, 'subject-wrap/v1'), clock, random });
};

/** The settings of a service whose keys are still wrapped under the deployment's secrets. */
function movedToOwn(settings: Settings, service: ServiceName): Settings {
  const { JWT_SECRET, ENCRYPTION_KEY } = serviceSecrets(settings, service);
  return {
    ...settings,
    JWT_SECRET,
    JWT_SECRET_PREVIOUS: settings.JWT_SECRET,
    ENCRYPTION_KEY,
    ENCRYPTION_KEY_PREVIOUS: settings.ENCRYPTION_KEY,
  };
}

export const keysRotateDek: Command = {
  name: 'keys rotate-dek',
  summary:
    "Replaces the key of a tenant's secrets, and encrypts them anew; it happens by itself once a year.",
  example: 'keys rotate-dek --tenant 0198c2f4-8d5e-7c3a-9f21-6b0c4d1e2f3a',
  options: { tenant: { type: 'string', value: 'ID', help: 'tenant of the secrets' } },
  run: async (call) => {
    const tenantId = idOf(call, 'tenant');
    if (tenantId === undefined) throw new WrongUsage('--tenant names whose key');
    const vault = dependenciesOf(await call.open(), 'vault');
    const rotated = await vaultOperations(vault).rotateKey(tenantId);
    if (rotated === undefined) throw new NotDone('the vault keeps nothing of such a tenant');
    const { version, values, unreadable } = rotated;
    if (unreadable > 0) throw new NotDone(`${unreadable} secrets do not open, and were left`);
    return done([`Key ${version} of the tenant; ${values} secrets encrypted anew.`], {
      dek_version: version,
      secrets: values,
    });
  },
};
