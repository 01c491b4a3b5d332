/** All kinds of callers of tenant A's endpoints, and the refusal that each gets without the right. */
import { type Caller, type Contract, machineScopeOf } from '@cardea/http';
import type { Call } from '@cardea/testing';
import { scopesOf } from './agents-and-keys.ts';
import type { Fortress, House } from './fortress.ts';
import type { Person } from './users.ts';

export type CallerName =
  | 'none'
  | 'system admin'
  | 'owner'
  | 'admin'
  | 'member'
  | 'revoked session'
  | 'admin of B'
  | 'member of B'
  | 'expired'
  | 'forged'
  | 'key read'
  | 'key write'
  | 'key scopeless'
  | 'key of B'
  | 'machine'
  | 'agent key'
  | 'agent key with capability'
  | 'agent token'
  | 'agent token of B';

type Kind =
  | { readonly is: 'nobody' }
  | { readonly is: 'user'; readonly roles: readonly string[] }
  | { readonly is: 'api_key'; readonly scopes: readonly string[] }
  | { readonly is: 'client'; readonly roles: readonly string[]; readonly scopes: readonly string[] }
  | { readonly is: 'agent'; readonly via: 'key' | 'token' };

export type TestCaller = {
  readonly name: CallerName;
  readonly kind: Kind;
  readonly tenantId: string;
  readonly credentials: Pick<Call, 'bearer' | 'headers'>;
};

export function testCallers(world: Fortress): readonly TestCaller[] {
  const { a, b } = world;
  return [
    nobody(a, 'none', undefined),
    ...(world.systemAdmin === undefined ? [] : [person('system admin', world.systemAdmin)]),
    person('owner', a.owner),
    person('admin', a.admin),
    person('member', a.member),
    // Its access token is valid until it expires (`docs/contract.md` 4.2). Until then it allows everything except calls
    // that require a recent sign-in.
    person('revoked session', world.revoked),
    person('admin of B', b.admin),
    person('member of B', b.member),
    nobody(a, 'expired', world.expired),
    nobody(a, 'forged', forged(a.owner.access)),
    ...(world.machine === undefined ? [] : [machine(a, world.machine)]),
    ...agentsAndKeys(a, b),
  ];
}

function agentsAndKeys(a: House, b: House): readonly TestCaller[] {
  const { keys, agent } = a.agentsAndKeys;
  const apiKey = (name: CallerName, bearer: string, scopes: readonly string[]): TestCaller => ({
    name,
    kind: { is: 'api_key', scopes },
    tenantId: a.tenantId,
    credentials: { bearer },
  });
  const byKey = { is: 'agent', via: 'key' } as const;
  const capability = { 'x-service-token': agent.capability };
  return [
    apiKey('key read', keys.read, scopesOf('read')),
    apiKey('key write', keys.write, scopesOf('write')),
    apiKey('key scopeless', keys.scopeless, []),
    { ...apiKey('key of B', b.agentsAndKeys.keys.write, scopesOf('write')), tenantId: b.tenantId },
    { name: 'agent key', kind: byKey, tenantId: a.tenantId, credentials: { bearer: agent.key } },
    {
      name: 'agent key with capability',
      kind: byKey,
      tenantId: a.tenantId,
      credentials: { bearer: agent.key, headers: capability },
    },
    agentToken('agent token', a.tenantId, agent.token),
    agentToken('agent token of B', b.tenantId, b.agentsAndKeys.agent.token),
  ];
}

const machine = ({ tenantId }: House, bearer: string): TestCaller => ({
  name: 'machine',
  kind: { is: 'client', roles: [], scopes: [] },
  tenantId,
  credentials: { bearer },
});

const agentToken = (name: CallerName, tenantId: string, bearer: string): TestCaller => ({
  name,
  kind: { is: 'agent', via: 'token' },
  tenantId,
  credentials: { bearer },
});

const nobody = ({ tenantId }: House, name: CallerName, bearer: string | undefined): TestCaller => ({
  name,
  kind: { is: 'nobody' },
  tenantId,
  credentials: { bearer },
});

const person = (name: CallerName, { roles, tenantId, access }: Person): TestCaller => ({
  name,
  kind: { is: 'user', roles },
  tenantId,
  credentials: { bearer: access },
});

/** Signed for another user: claims of an owner's token under another token's signature. */
function forged(token: string): string {
  const [header, payload = '', signature] = token.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const changed = JSON.stringify({ ...claims, roles: ['system_admin', 'owner', 'admin'] });
  return [header, Buffer.from(changed).toString('base64url'), signature].join('.');
}

export type Verdict =
  | { readonly passes: true }
  | {
      readonly passes: false;
      readonly status: number;
      readonly code: string;
      readonly scope?: string;
    };

/**
 * The expected refusal of a caller who sends tenant A's header, in the order of the authentication pipeline:
 * authentication, kinds that get 401, tenant, kind, role or scope.
 */
export function verdict(
  contract: Contract,
  { name, kind, tenantId }: TestCaller,
  tenant: string,
): Verdict {
  const { who } = contract;
  if (who === 'anyone') return { passes: true };
  if (kind.is === 'nobody') return refused(contract, 401, 'unauthenticated');
  const takes = takesKind(contract, kind);
  const other = notTakenAs(contract, kind);
  if (!takes && other?.status === 401) return { passes: false, ...other };
  if (tenantId !== tenant) return refused(contract, 403, 'tenant_mismatch');
  if (!takes) return other ? { passes: false, ...other } : refused(contract, 403, 'forbidden');
  if (
    kind.is === 'user' &&
    !who.includes('user') &&
    !who.some((each) => kind.roles.includes(each))
  ) {
    return refused(contract, 403, 'forbidden');
  }
  if (kind.is === 'client') {
    const scope = machineScopeOf(contract);
    if (scope !== undefined && !kind.scopes.includes(scope)) {
      return { ...refused(contract, 403, 'insufficient_scope'), scope };
    }
  }
  if (kind.is === 'api_key') {
    const scopes = who.filter(isScope).map((each) => each.slice('api_key:'.length));
    if (!scopes.some((scope) => kind.scopes.includes(scope))) {
      return { ...refused(contract, 403, 'insufficient_scope'), scope: scopes[0] as string };
    }
  }
  // A session that has ended has no sign-in any more.
  if (name === 'revoked session' && contract.access?.stepUp === 'users') {
    return refused(contract, 401, 'step_up_required');
  }
  return { passes: true };
}

const isScope = (caller: Caller): boolean => caller.startsWith('api_key:');
const ROLES: readonly Caller[] = ['user', 'admin', 'owner', 'system_admin'];

function takesKind(
  { who, machine = 'never' }: Contract,
  kind: Exclude<Kind, { is: 'nobody' }>,
): boolean {
  if (who === 'anyone') return true;
  switch (kind.is) {
    case 'user':
      return who.some((caller) => ROLES.includes(caller));
    case 'api_key':
      return who.some(isScope);
    case 'client':
      return machine !== 'never';
    case 'agent':
      return who.includes(kind.via === 'key' ? 'agent_key' : 'agent_token');
  }
}

function notTakenAs({ notTaken }: Contract, kind: Exclude<Kind, { is: 'nobody' }>) {
  const byKey = kind.is === 'agent' && kind.via === 'key' ? notTaken?.agent_key : undefined;
  return byKey ?? notTaken?.[kind.is];
}

function refused(contract: Contract, status: number, code: string) {
  return { passes: false as const, status, code: inCodesOf(contract, code) };
}

/** A code of the pipeline as this endpoint spells it. */
export const inCodesOf = ({ response }: Contract, code: string): string =>
  response?.codes?.[code] ?? (response?.errors === 'upper_case' ? code.toUpperCase() : code);
