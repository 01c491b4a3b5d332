/** An administrator brings people from elsewhere, with the hashes of their passwords. */
import { named } from '@cardea/contracts';
import type { Command } from '@cardea/event-store';
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import { newId, requestHash, reusedKey, type ServiceDependencies } from '@cardea/service';
import Type, { type Static } from 'typebox';
import { closed } from '../../../http/answers.ts';
import {
  avatarUrlField,
  displayNameField,
  emailField,
  nullable,
} from '../../../http/input-fields.ts';
import { TENANT_DEFAULTS, type Workspaces } from '../../../workspaces/workspaces.module.ts';
import type { Accounts } from '../../accounts.ts';
import type { Administrators } from '../../administrators/administrators.ts';
import type { ToAscii } from '../../email-address.ts';
import type { Passwords } from '../../passwords/passwords.ts';
import type { UserDirectory } from '../../user-directory.ts';
import { type Administrator, administratorOf } from '../administrator.ts';
import { isActiveAdmin } from '../ranks.ts';
import { type ExistingUser, exists } from '../user.ts';
import { type ImportFault, type ReadUser, readUsers } from './import-users.ts';

type Dependencies = Pick<ServiceDependencies, 'command' | 'ids' | 'sealer'> & {
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'hashOf'>;
  readonly accounts: Pick<Accounts, 'create'>;
  readonly administrators: Pick<Administrators, 'settle'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly passwords: Pick<Passwords, 'isKnownHash'>;
  readonly toAscii: ToAscii;
  readonly readTotpSecret: (text: string) => string | undefined;
  /** Makes it a second factor of the user, whose app shows its codes already. */
  readonly importTotp: (
    of: { readonly userId: string; readonly secret: string },
    command: Command,
  ) => Promise<bigint | undefined>;
};

const USERS_MAX = 100;
const AT_ONCE_MAX = 10;
const HASH_CHARACTERS_MAX = 512;
const TOTP_SECRET_CHARACTERS_MAX = 256;

const Body = closed({
  users: Type.Array(
    named(
      'ImportedUser',
      closed({
        email: emailField,
        /** A PHC string of argon2, scrypt or PBKDF2, or a bcrypt hash. */
        password_hash: Type.Optional(Type.String({ minLength: 1, maxLength: HASH_CHARACTERS_MAX })),
        /** Of an authenticator app, in base 32. */
        totp_secret: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: TOTP_SECRET_CHARACTERS_MAX,
            examples: ['JBSWY3DPEHPK3PXP'],
          }),
        ),
        display_name: Type.Optional(nullable(displayNameField)),
        avatar_url: Type.Optional(nullable(avatarUrlField)),
        roles: Type.Optional(
          Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
            minItems: 1,
            maxItems: 50,
            uniqueItems: true,
          }),
        ),
        email_verified: Type.Optional(Type.Boolean()),
      }),
    ),
    { minItems: 1, maxItems: USERS_MAX },
  ),
});
type Asked = Request<object, object, Static<typeof Body>>;

export const importUsersRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      tag: 'Administration',
      tenant: 'required',
      area: 'admin',
      name: 'import_users',
      summary: 'Import users with the hashes of their passwords',
      method: 'post',
      path: '/api/v1/admin/users/import',
      who: ['admin', 'api_key:users:write'],
      applicationScope: 'account',
      body: Body,
      ok: closed({
        imported: Type.Integer(),
        failed: Type.Array(
          named('ImportFailure', closed({ index: Type.Integer(), code: Type.String() })),
        ),
      }),
      refusals: { idempotency_key_reused: 422 },
      idempotent: true,
      waitsFor: ['users'],
    },
    async (request) => {
      const { tenantId, body } = request;
      const { settings = TENANT_DEFAULTS } = (await needs.workspaces.tenant(tenantId)) ?? {};
      const by = administratorOf(request.principal);
      const { isKnownHash } = needs.passwords;
      const { readTotpSecret, toAscii } = needs;
      const of = { by, settings, isKnownHash, readTotpSecret, toAscii };
      const read = readUsers(body.users, of);
      const command = await needs.command(request);
      const ownHash = await requestHash(needs, request);
      const results: Imported[] = [];
      for (let at = 0; at < read.length; at += AT_ONCE_MAX) {
        const some = read.slice(at, at + AT_ONCE_MAX).map((user, offset) =>
          typeof user === 'string'
            ? { code: user }
            : imported(needs, {
                ...{ user, by, command, ownHash },
                id: newId(needs, request as Asked, `user ${at + offset}`),
              }),
        );
        results.push(...(await Promise.all(some)));
        if (results.some((one) => one.code === 'reused')) return REUSED;
      }
      const failed = results.flatMap(({ code }, index) =>
        code === undefined ? [] : [{ index, code }],
      );
      const wrote = results.findLast(({ position }) => position !== undefined)?.position;
      return { ok: { imported: results.length - failed.length, failed }, wrote };
    },
  );

const REUSED = { refused: 'idempotency_key_reused' } as const;

type Imported = {
  /** Undefined: the person is there. */
  readonly code?: ImportFault | 'reused';
  readonly position?: bigint | undefined;
};

async function imported(
  needs: Dependencies,
  of: {
    readonly id: string;
    readonly user: ReadUser;
    readonly by: Administrator;
    readonly command: Command;
    readonly ownHash: string | null;
  },
): Promise<Imported> {
  const { id, user, by, command, ownHash } = of;
  const { tenantId } = command.metadata;
  const before = await needs.userDirectory.byId(tenantId, id);
  // A repeat under the same Idempotency-Key meets those that the first request made.
  if (exists(before)) {
    if (reusedKey(ownHash, before.requestHash) !== undefined) return { code: 'reused' };
    return { position: await withTotp(needs, before, user, command) };
  }
  const emailHash = await needs.userDirectory.hashOf(tenantId, user.email);
  const account = { ...user, id, emailHash, vouched: !by.isKey, requestHash: ownHash };
  const made = await needs.accounts.create({ ...account, via: 'import' }, command);
  if (made.outcome === 'deleted') return {};
  if (made.outcome === 'taken') return { code: 'email_already_exists' };
  if (isActiveAdmin(made.user)) {
    await needs.administrators.settle({ tenantId, userId: id }, command);
  }
  const enrolled = await withTotp(needs, made.user, user, command);
  return { position: enrolled ?? made.position };
}

/** Repeatable: a factor that is there stays as it is. */
async function withTotp(
  { importTotp }: Dependencies,
  { id: userId }: ExistingUser,
  { totpSecret: secret }: ReadUser,
  command: Command,
): Promise<bigint | undefined> {
  return secret === null ? undefined : importTotp({ userId, secret }, command);
}
