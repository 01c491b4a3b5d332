/** Determines which values of a body give power to the caller who may set them. */
import type { MachineScope } from '@cardea/contracts';
import type { TSchema } from 'typebox';
import { SERVICE_GRANT } from './agents-and-keys.ts';
import type { Fortress } from './fortress.ts';
import type { Victims } from './harm.ts';

export const OWN_PASSWORD = 'known to whoever searches';
/** An address that an attacker controls. */
export const ATTACKER = 'https://attacker.example';

/** The scopes that an application of type `m2m` may be given, from none to more than anybody may have. */
const WIDE: readonly MachineScope[] = [
  ...(['users:write', 'agents:write', 'vault:grant', 'vault:write', 'fga:write'] as const),
  ...(['applications:write', 'webhooks:write', 'audit:read'] as const),
];
const MACHINES: readonly object[] = [
  { name: 'a machine without rights' },
  { machine_scopes: WIDE },
  { machine_scopes: [...WIDE, 'settings:write'] },
  { roles: ['admin', 'owner'], machine_scopes: WIDE },
  { roles: ['system_admin'], machine_scopes: WIDE },
];

type Of = {
  readonly world: Fortress;
  readonly victims: Victims;
  /** The caller's own ids, by collection. */
  readonly ids: ReadonlyMap<string, readonly string[]>;
};

/**
 * Each field of the body that gives power, with every value worth trying, and all at once; the unchanged
 * sample first.
 */
export function powersFor(
  { world, victims, ids }: Of,
  body: TSchema | undefined,
): readonly (object | undefined)[] {
  const users = victims.users.map(({ userId }) => userId);
  const worth: { readonly [field: string]: readonly unknown[] } = {
    roles: [['admin'], ['member', 'owner'], ['system_admin', 'owner', 'admin']],
    scopes: [
      ['users:write', 'agents:write', 'vault:grant', 'vault:write'],
      ['openid', 'roles'],
    ],
    first_party: [true],
    redirect_uris: [[`${ATTACKER}/callback`]],
    settings: [{ app_url: ATTACKER }, { agent_access: { approver: { role: 'member' } } }],
    services: [[SERVICE_GRANT]],
    owner_user_id: users,
    approvers: [['role:member'], users],
    user_id: users,
    agent_id: ids.get('/api/v1/agents') ?? [],
    vouched: [true],
    status: ['active'],
    password: [OWN_PASSWORD],
    new_password: [OWN_PASSWORD],
    email: [`taken.over@${world.a.tenantId}.example.com`, ...(victims.emails ?? [])],
    enabled: [false],
  };
  const fields = Object.keys((body as { properties?: object } | undefined)?.properties ?? {});
  const wanted = fields.filter((field) => (worth[field] ?? []).length > 0);
  const alone = wanted.flatMap((field) =>
    (worth[field] ?? []).map((value): object => ({ [field]: value })),
  );
  // The address is left out, because most objects are created with a new one.
  const together = wanted.filter((field) => field !== 'email');
  const machines = !fields.includes('machine_scopes')
    ? []
    : MACHINES.map((rights) => (fields.includes('type') ? { type: 'm2m', ...rights } : rights));
  const most = Math.max(0, ...together.map((field) => worth[field]?.length ?? 0));
  const all = Array.from({ length: together.length > 1 ? most : 0 }, (_, n): object =>
    Object.fromEntries(together.map((field) => [field, worth[field]?.[n] ?? worth[field]?.at(-1)])),
  );
  return [undefined, ...alone, ...all, ...machines];
}
