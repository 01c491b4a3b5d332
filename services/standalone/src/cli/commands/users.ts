/** Creates an administrator for a deployment that was started without ADMIN_EMAIL or has lost its last one. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { identityOperations } from '@cardea/identity';
import { type Command, done, idOf, textOf } from '../command.ts';
import { NotDone } from '../failures.ts';

const PASSWORD_BYTES = 18;

const REASONS = {
  invalid_email: 'that is no e-mail address',
  tenant_not_found: 'there is no such tenant',
  email_already_exists: 'the address belongs to an account of this tenant already',
  password_too_short: 'the password is too short for this tenant',
  password_too_long: 'the password is too long',
  password_too_weak: 'the password is one of the most common ones',
  password_breached: 'the password is known from a leak',
} as const;

export const usersCreateAdmin: Command = {
  name: 'users create-admin',
  summary: 'Creates an administrator, and prints the password once unless it comes from a file.',
  words: ['<e-mail>'],
  options: {
    tenant: { type: 'string', value: 'ID', help: "tenant (default: the deployment's own)" },
    'password-file': { type: 'string', value: 'FILE', help: 'take the password from a file' },
  },
  run: async (call) => {
    const [email = ''] = call.words;
    const file = textOf(call, 'password-file');
    const given = file === undefined ? undefined : passwordIn(file);
    const password = given ?? randomBytes(PASSWORD_BYTES).toString('base64url');
    const identity = (await call.open())
      .parts()
      .find(({ definition }) => definition.name === 'identity');
    if (identity === undefined) throw new Error('identity is not among the services');
    const tenantId = idOf(call, 'tenant');
    const made = await identityOperations(identity.needs).createAdmin({
      email,
      password,
      tenantId,
    });
    if ('refused' in made) throw new NotDone(REASONS[made.refused]);
    const shown = given === undefined ? { password } : {};
    const rows = { user_id: made.userId, tenant_id: made.tenantId, ...shown };
    return done(
      Object.entries(rows).map(([name, value]) => `${name}  ${value}`),
      rows,
    );
  },
};

function passwordIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch {
    throw new NotDone('the password file cannot be read');
  }
}
