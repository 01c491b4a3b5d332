/** Moves what is wrapped under the previous ENCRYPTION_KEY and JWT_SECRET to the current ones. */
import { identityOperations } from '@cardea/identity';
import { refuseForeignKeys, rewrapKeys } from '@cardea/service';
import { vaultOperations } from '@cardea/vault';
import { type Command, done, table, textOf } from '../command.ts';
import { dependenciesOf, wrappedIn } from '../deployment.ts';
import { NotDone, WrongUsage } from '../failures.ts';

export const keysRewrap: Command = {
  name: 'keys rewrap',
  summary:
    'Wraps every stored key under ENCRYPTION_KEY, and seals signing keys under JWT_SECRET; may be stopped and run again.',
  example: 'keys rewrap',
  run: async ({ open, tell }) => {
    const deployment = await open();
    const wrapped = wrappedIn(deployment);
    await refuseForeignKeys(wrapped);
    const tables: { readonly table: string; readonly rewrapped: number }[] = [];
    await rewrapKeys(wrapped, (name, rewrapped) => {
      tables.push({ table: name, rewrapped });
      if (rewrapped > 0) tell(`${name}: ${rewrapped}`, { table: name, rewrapped });
    });
    const signing = await identityOperations(dependenciesOf(deployment, 'identity')).resealKeys();
    const rows = tables.map((each) => [each.table, `${each.rewrapped} rows wrapped anew`]);
    return done([...table(rows), `${signing} signing keys sealed anew`], {
      tables,
      signing_keys: signing,
    });
  },
};

export const keysRotateDek: Command = {
  name: 'keys rotate-dek',
  summary:
    "Replaces the key of a tenant's secrets, and encrypts them anew; it happens by itself once a year.",
  example: 'keys rotate-dek --tenant 0198c2f4-8d5e-7c3a-9f21-6b0c4d1e2f3a',
  options: { tenant: { type: 'string', value: 'ID', help: 'whose secrets' } },
  run: async (call) => {
    const tenantId = textOf(call, 'tenant');
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
