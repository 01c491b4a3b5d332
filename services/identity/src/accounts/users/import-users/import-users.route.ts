/** An administrator imports users with the hashes of their passwords. */

import { named } from '@cardea/contracts';
import type { Command } from '@cardea/event-store';
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import { newId, requestHash, reusedKey, type ServiceDependencies } from '@cardea/service';
import Type, { type Static } from 'typebox';
import { closed, metadataField } from '../../../http/answers.ts';
import { emailField } from '../../../http/input-fields.ts';
import { profileInputFields } from '../../../http/profile-fields.ts';
import { type Administrator, administratorOf } from '../../../ranks/ranks.ts';
import { TENANT_DEFAULTS, type Workspaces } from '../../../workspaces/workspaces.module.ts';
import type { Accounts } from '../../accounts.ts';
import type { Administrators } from '../../administrators/administrators.ts';
import type { ToAscii } from '../../email-address.ts';
import type { Passwords } from '../../passwords/passwords.ts';
import type { UserDirectory } from '../../user-directory.ts';
import { isActiveAdmin } from '../ranks.ts';
import { type ExistingUser, exists } from '../user.ts';
import { type ImportedUser, type ImportFault, type ReadUser, readUsers } from './import-users.ts';

type Dependencies = Pick<ServiceDependencies, 'command' | 'ids' | 'sealer'> & {
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'hashOf'>;
  readonly accounts: Pick<Accounts, 'create' | 'isPromised'>;
  readonly administrators: Pick<Administrators, 'settle'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly passwords: Pick<Passwords, 'brought' | 'readHash'>;
  readonly toAscii: ToAscii;
  readonly readTotpSecret: (text: string) => string | undefined;
  /** Enrols the secret as a second factor. The user's app shows its codes already. */
  readonly importTotp: (
    of: { readonly userId: string; readonly secret: string },
    command: Command,
  ) => Promise<bigint | undefined>;
};

const USERS_MAX = 100;
const AT_ONCE_MAX = 10;
const HASH_CHARACTERS_MAX = 512;
const TOTP_SECRET_CHARACTERS_MAX = 256;

const keycloakText = Type.String({ minLength: 2, maxLength: 2_048 });
const base64Text = Type.String({ minLength: 1, maxLength: 256 });
const firebaseFields = {
  salt: base64Text,
  signer_key: base64Text,
  salt_separator: Type.String({ maxLength: 64 }),
  rounds: Type.Integer({ minimum: 1, maximum: 1_024 }),
  mem_cost: Type.Integer({ minimum: 1, maximum: 32 }),
};

const Body = closed({
  users: Type.Array(
    named(
      'ImportedUser',
      closed({
        email: emailField,
        /**
         * A PHC string of argon2, scrypt or PBKDF2, a bcrypt hash, the forms of Django and ASP.NET Identity, a
         * Firebase hash (with `firebase`), or the credential of a Keycloak export.
         */
        password_hash: Type.Optional(
          Type.Union([
            Type.String({ minLength: 1, maxLength: HASH_CHARACTERS_MAX }),
            named(
              'KeycloakHash',
              closed({ secretData: keycloakText, credentialData: keycloakText }),
            ),
          ]),
        ),
        /** This person's salt and the hash parameters of the Firebase project, in base64. */
        firebase: Type.Optional(named('FirebaseHashParameters', closed(firebaseFields))),
        /** The secret of an authenticator app, in base 32. */
        totp_secret: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: TOTP_SECRET_CHARACTERS_MAX,
            examples: ['JBSWY3DPEHPK3PXP'],
          }),
        ),
        ...profileInputFields,
        /** An object of at most 4 KiB, 50 keys and 5 levels. The user can read it. */
        public_metadata: Type.Optional(metadataField),
        /** An object with the same bounds, which only administrators can read. */
        private_metadata: Type.Optional(metadataField),
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
      name: 'import_users',
      machine: 'users:write',
      access: { class: 'settings', stepUp: 'users' },
      summary: 'Import users with the hashes of their passwords',
      description:
        'Imports 1 to 100 users with the password hashes of another product. Each is decided by itself: `failed` names the place and the code of those that were not imported.',
      method: 'post',
      path: '/api/v1/admin/users/import',
      who: ['admin', 'api_key:users:write'],
      body: Body,
      ok: closed({
        imported: Type.Integer(),
        failed: Type.Array(
          named('ImportFailure', closed({ index: Type.Integer(), code: Type.String() })),
        ),
      }),
      refusals: { idempotency_key_reused: 422 },
      repeat: 'by_key',
      consistency: { waitsFor: ['users'] },
    },
    async (request) => {
      const { tenantId, body } = request;
      const { settings = TENANT_DEFAULTS } = (await needs.workspaces.tenant(tenantId)) ?? {};
      const by = administratorOf(request.principal);
      const { readHash } = needs.passwords;
      const { readTotpSecret, toAscii } = needs;
      const of = { by, settings, readHash, readTotpSecret, toAscii };
      const read = readUsers(body.users as readonly ImportedUser[], of);
      const hashes = read.flatMap((user) =>
        typeof user === 'string' ? [] : (user.passwordHash ?? []),
      );
      await needs.passwords.brought(tenantId, hashes);
      const command = await needs.command(request);
      const ownHash = await requestHash(needs, request);
      const results: Imported[] = [];
      for (let at = 0; at < read.length; at += AT_ONCE_MAX) {
        const some = read.slice(at, at + AT_ONCE_MAX).map((user, offset) =>
          typeof user === 'string'
            ? { code: user }
            : imported(needs, {
                user,
                by,
                command,
                ownHash,
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
  /** Undefined if the user was imported. */
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
  // A repeat under the same Idempotency-Key finds the users that the first request created.
  if (exists(before)) {
    if (reusedKey(ownHash, before.requestHash) !== undefined) return { code: 'reused' };
    return { position: await withTotp(needs, before, user, command) };
  }
  const emailHash = await needs.userDirectory.hashOf(tenantId, user.email);
  const promised = { tenantId, emailHash, by, now: command.now };
  if (await needs.accounts.isPromised(promised)) return { code: 'forbidden' };
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

/** Idempotent: a factor that exists is not changed. */
async function withTotp(
  { importTotp }: Dependencies,
  { id: userId }: ExistingUser,
  { totpSecret: secret }: ReadUser,
  command: Command,
): Promise<bigint | undefined> {
  return secret === null ? undefined : importTotp({ userId, secret }, command);
}
