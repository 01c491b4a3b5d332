/**
 * Describes what each scope lets a machine reach, also in several steps, because owners choose scopes by it. If an
 * endpoint requires a role of people, a machine needs that role as well as the scope.
 */
import type { MachineScope } from '@cardea/contracts';

export const MACHINE_SCOPE_DESCRIPTIONS: { readonly [Scope in MachineScope]: string } = {
  'audit:read': 'Read and export the audit log, and check that it is whole. Needs the role admin.',
  'audit:write': 'Decide where else the audit log is sent. Needs the role admin.',
  'webhooks:read': 'Read webhooks and their deliveries. Needs the role admin.',
  'webhooks:write':
    'Make, change and delete webhooks, and see the secrets of those it makes or rotates: with it, all events of the tenant can be sent to any address. Needs the role admin.',
  'approvals:read': 'Read the requests for approval of the whole tenant. Needs the role admin.',
  'fga:write':
    'Write and delete relationship tuples, and so decide what applications that ask Cardea let anybody do.',
  'model:read': 'Read the model of relations.',
  'model:write':
    'Replace the model of relations, and so decide what applications that ask Cardea let anybody do.',
  'users:read': 'Read the accounts of the tenant and its invitations.',
  'users:write':
    'Make accounts of members or import them, with a password, and so sign in as a person whom it made; invite members; change, disable, enable and delete members. It gives and takes no role, and sets no password or address of an existing person. With a role it does so to people up to the rank of that role, too.',
  'agents:read': 'Read the agents of the tenant, what they may reach, and the names of their keys.',
  'agents:write':
    'Make agents that reach nothing; rename, suspend, resume and delete agents, and revoke their keys. With vault:grant also what that says.',
  'vault:read':
    'Read which services the vault has, their policies and who was granted what; never a secret.',
  'vault:write':
    'Register, change and delete services, write secrets, revoke grants, and make, change and remove approval policies: with it, agents can get without approval what needed one. It reads no secret.',
  'vault:grant':
    'With agents:write: decide which services an agent reaches and who owns it, and make keys for it, and so read every secret that no approval policy holds back.',
  'tokens:introspect': 'Ask whether a token of the tenant is alive, and whose it is.',
  'applications:read': 'Read applications and resource servers. Needs the role admin.',
  'applications:write':
    'Make, change and delete applications and resource servers, but for those that act for people and for machines with a role or a scope. Needs the role admin.',
  'settings:read': 'Read the settings of the tenant. Needs the role owner.',
  'settings:write':
    'Change the settings of the tenant: who decides where mail leads and how people sign in can sign in as anybody of the tenant. Needs the role owner.',
  'providers:read': 'Read the identity providers of the tenant. Needs the role owner.',
  'providers:write':
    'Make, change and delete the identity providers of the tenant: who decides who vouches for addresses can sign in as anybody of the tenant. Needs the role owner.',
  scim: 'Provision people and groups of a directory.',
};
