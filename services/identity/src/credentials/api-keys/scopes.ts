/**
 * The scopes of API keys. Administrators choose scopes by these descriptions, so each names everything that a key can
 * reach, also in several steps.
 */
const DESCRIPTIONS = {
  'fga:read': 'Read relationship tuples and ask whether somebody may do something.',
  'fga:write':
    'Write and delete relationship tuples, and so decide what applications that ask Cardea let anybody do.',
  'model:read': 'Read the model of relations.',
  'model:write':
    'Replace the model of relations, and ask which checks another model would answer otherwise, and so decide what applications that ask Cardea let anybody do.',
  'users:read':
    'Read the accounts of the tenant: addresses, names, metadata, roles, whether they are vouched for, and where they are signed in.',
  'users:write':
    'Make accounts of members or import them, with a password, and so sign in as a person whom it made, who may do what any member may: nobody vouches for them. Change the name and picture (with all that profile and metadata hold) of members, disable, enable and delete them, end their sessions, and mail them a link to a new password. It gives and takes no role, and sets no password or address of an existing person.',
  'agents:read': 'Read the agents of the tenant, what they may reach, and the names of their keys.',
  'agents:write':
    'Make agents that reach nothing; rename, suspend, resume and delete agents, and revoke their keys. With vault:grant also what that says.',
  'vault:read':
    'Read which services the vault has, their policies and who was granted what; never a secret.',
  'vault:write':
    'Register, change and delete services, write secrets, promote, roll back and destroy their versions, revoke grants, and make, change and remove approval policies: with it, agents can get without approval what needed one. It reads no secret.',
  'vault:grant':
    'With agents:write: decide which services an agent reaches and who owns it, and make keys for it, and so read every secret that no approval policy holds back.',
  'tokens:introspect': 'Ask whether a token is alive, and whose it is.',
} as const;

export type Scope = keyof typeof DESCRIPTIONS;
export const SCOPES = Object.keys(DESCRIPTIONS) as readonly Scope[];
export const SCOPE_DESCRIPTIONS: { readonly [scope: string]: string } = DESCRIPTIONS;

export const isScope = (scope: string): scope is Scope => Object.hasOwn(DESCRIPTIONS, scope);

/** Names each unknown scope by its index, and lists all scopes. */
export const unknownScopes = (scopes: readonly string[]) =>
  ({
    refused: 'invalid_scope',
    details: scopes.flatMap((scope, index) =>
      isScope(scope) ? [] : [{ field: `scopes.${index}`, rule: 'unknown', allowed: SCOPES }],
    ),
  }) as const;
