/** Creates an organization, its tenant, its first administrator and the application `default`. */
import { named } from '@cardea/contracts';
import type { Command } from '@cardea/event-store';
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import type { Language } from '@cardea/mail';
import { languageOf } from '@cardea/pages';
import { alreadyCreated, newId, type ServiceDependencies } from '@cardea/service';
import Type, { type Static } from 'typebox';
import {
  ACCOUNT_APPENDS,
  type Accounts,
  type ExistingUser,
  type Passwords,
  type ToAscii,
  type UserDirectory,
} from '../../../accounts/accounts.module.ts';
import { closed, PASSWORD_BODY_MAX_BYTES, tokenFields, tooOften } from '../../../http/answers.ts';
import {
  displayNameField,
  emailField,
  filledNameField,
  newPasswordField,
} from '../../../http/input-fields.ts';
import { LIMITS } from '../../../http/limits.ts';
import type { MailOutbox, MailRequest } from '../../../mail/mail.module.ts';
import { signupReservations } from '../../../streams/reservation.ts';
import {
  DEPLOYMENT,
  type NewWorkspace,
  TENANT_APPENDS,
  type TenantFacts,
  type Workspaces,
} from '../../../workspaces/workspaces.module.ts';
import { begin, meet } from '../../attempts/attempt.ts';
import type { EndAttempt } from '../../attempts/end-attempt.ts';
import { appendsOf, step } from '../steps.ts';
import { CheckYourEmail, pad, repeatedRegistration } from '../taken-address.ts';
import { answerOfSignUp, noticeIn, type SignUp, signUpOf, WITHOUT_TOKENS } from './sign-up.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'command' | 'identify' | 'ids' | 'limits' | 'sealer' | 'settings' | 'streams'
> & {
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'hashOf'>;
  readonly accounts: Pick<Accounts, 'addressHolder' | 'create' | 'hold'>;
  readonly workspaces: Pick<Workspaces, 'createApplication' | 'createWorkspace'>;
  readonly endAttempt: EndAttempt;
  readonly mailOutbox: Pick<MailOutbox, 'request'>;
  readonly passwords: Pick<Passwords, 'hash'>;
  readonly toAscii: ToAscii;
};

const Body = closed({
  email: emailField,
  password: newPasswordField,
  company_name: filledNameField,
  display_name: Type.Optional(displayNameField),
});
type Asked = Request<object, object, Static<typeof Body>>;

export const signUpRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      name: 'sign_up',
      summary: 'Sign up: make an organization, a tenant and its administrator',
      description:
        'Makes an organization, its first tenant, an application and the account that owns them. A taken address is answered with the same status. An address may sign up 20 times an hour.',
      tag: 'Authentication',
      method: 'post',
      path: '/api/v1/auth/signup',
      who: 'anyone',
      tenant: 'none',
      body: Body,
      ok: Type.Union([
        named(
          'SignedUp',
          closed({
            user_id: Type.String(),
            tenant_id: Type.String(),
            ...tokenFields,
            email_verified: Type.Boolean(),
          }),
        ),
        CheckYourEmail,
      ]),
      response: { status: 201, isSecret: true },
      refusals: {
        invalid_email: 400,
        invalid_request: 400,
        password_too_short: 400,
        password_too_long: 400,
        password_too_weak: 400,
        signup_disabled: 403,
        already_created: 409,
        rate_limited: 429,
      },
      repeat: 'by_key_in_handler',
      consistency: { waitsFor: ['workspaces', 'users', 'sessions'] },
      input: { limitBytes: PASSWORD_BODY_MAX_BYTES },
    },
    async (request) => {
      const read = signUpOf(request.body, {
        isOpen: needs.settings.SIGNUP_ENABLED,
        toAscii: needs.toAscii,
      });
      if ('refused' in read) return read;
      const byIp = await needs.limits.take([LIMITS.registrationsByIp, request.ip]);
      if (!byIp.allowed) return tooOften(byIp);
      return await signedUp(needs, await needs.identify(request), read.signUp);
    },
  );

type Making = SignUp & {
  readonly userId: string;
  readonly workspace: NewWorkspace;
  readonly passwordHash: string;
  readonly command: Command;
};

/** The steps in their order. A repeat of the command finds what the first one created. */
const STEPS = {
  reservation: step(1, reserveAddress),
  tenant: step(
    TENANT_APPENDS,
    async ({ workspaces }: Dependencies, { workspace, command }: Making) =>
      workspaces.createWorkspace(workspace, command),
  ),
  account: step(ACCOUNT_APPENDS, createAccount),
  application: step(1, async ({ workspaces }: Dependencies, { workspace, command }: Making) =>
    workspaces.createApplication(workspace, command),
  ),
  mail: step(1, async ({ mailOutbox }: Dependencies, mail: MailRequest, command: Command) =>
    mailOutbox.request(mail, command),
  ),
  session: step(1, startSession),
} as const;

/** All sign-ups share one turn in the scheduling between tenants, although each creates a tenant. */
const ALL_SIGN_UPS = 'sign-ups';

async function signedUp(needs: Dependencies, request: Asked, of: SignUp) {
  const userId = newId(needs, request, 'user');
  const workspace = newWorkspace(needs, request, of.company);
  const { tenantId } = workspace;
  const repeat = await repeatedRegistration(needs, request, { tenantId, userId });
  if (repeat !== undefined) return repeat;

  const passwordHash = await needs.passwords.hash(request.body.password, ALL_SIGN_UPS);
  const actor = { type: 'user', id: userId } as const;
  const command = await needs.command(request, { tenantId, actor });
  const language = languageOf(request.headers);
  const making = { ...of, userId, workspace, passwordHash, command };
  const reserved = await STEPS.reservation.run(needs, making);
  if (!reserved.held) {
    return await taken(needs, { ...of, language, tenantId: reserved.by.tenantId }, command);
  }
  const tenant = await STEPS.tenant.run(needs, making);
  const created = await STEPS.account.run(needs, making);
  if (created.outcome === 'deleted') return alreadyCreated(userId);
  if (created.outcome === 'taken') throw new Error('an address is taken in a tenant just made');
  const { user } = created;
  await STEPS.application.run(needs, making);
  const { emailHash } = user;
  const mail = { purpose: 'verify', email: of.email, emailHash, userId, language } as const;
  await STEPS.mail.run(needs, mail, command);
  const ended = await STEPS.session.run(needs, making, { request, user, tenant });
  return answerOfSignUp(ended, tenantId);
}

/** Reserves the address. An account of any tenant blocks it, as does an earlier sign-up. */
async function reserveAddress({ accounts, sealer }: Dependencies, of: Making) {
  const { email, userId, workspace, command } = of;
  const by = await accounts.addressHolder({ email, except: userId, now: command.now });
  if (by !== undefined) return { held: false, by } as const;
  return accounts.hold(
    signupReservations,
    {
      id: await sealer.indexHash('deployment', 'signup', email),
      owner: { tenantId: workspace.tenantId, userId },
      // A sign-up that never proved the address does not keep it from others.
      isOwnedBy: ({ emailVerified }) => emailVerified,
    },
    { ...command, metadata: { ...command.metadata, tenantId: DEPLOYMENT } },
  );
}

async function createAccount({ accounts, userDirectory }: Dependencies, of: Making) {
  return accounts.create(
    {
      id: of.userId,
      email: of.email,
      emailHash: await userDirectory.hashOf(of.workspace.tenantId, of.email),
      emailVerified: false,
      displayName: of.name,
      avatarUrl: null,
      roles: ['owner', 'admin'],
      passwordHash: of.passwordHash,
      via: 'signup',
      vouched: true,
      requestHash: null,
    },
    of.command,
  );
}

/** The person has just chosen the password, so it counts as verified. */
async function startSession(
  { endAttempt }: Dependencies,
  { command }: Making,
  of: { readonly request: Asked; readonly user: ExistingUser; readonly tenant: TenantFacts },
) {
  const { request, user, tenant } = of;
  const { settings } = tenant;
  const begun = begin({ via: 'signup', first: 'password', user, settings });
  const attempt = meet(begun, true);
  if (attempt.status === 'refused') return attempt;
  return endAttempt.inSession(attempt, { request, tenant, readAt: command.now }, command);
}

const newWorkspace = (
  needs: Pick<Dependencies, 'ids' | 'settings'>,
  request: Asked,
  company: string,
): NewWorkspace => ({
  organizationId: newId(needs, request, 'organization'),
  tenantId: newId(needs, request, 'tenant'),
  applicationId: newId(needs, request, 'application'),
  organizationName: company,
  tenantName: company,
  environment: needs.settings.ENV,
});

/** Makes as many appends as a success does. The mail is one of them. */
async function taken(
  needs: Dependencies,
  of: {
    readonly email: string;
    readonly tenantId: string;
    readonly language: Language | undefined;
  },
  command: Command,
) {
  const { email, tenantId, language } = of;
  const emailHash = await needs.userDirectory.hashOf(tenantId, email);
  const theirs = noticeIn(tenantId, command);
  const mail = { purpose: 'notice', email, emailHash, userId: null, language } as const;
  const wrote = await STEPS.mail.run(needs, mail, theirs);
  const hidden = appendsOf(Object.values(STEPS)) - STEPS.mail.appends;
  await pad(needs, { ...theirs, id: command.id }, hidden);
  return { ok: WITHOUT_TOKENS, wrote };
}
