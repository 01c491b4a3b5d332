/** Adds a user to a tenant. A taken address gets a response of the same status and shape. */
import { named } from '@cardea/contracts';
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import { alreadyCreated, newId, type ServiceDependencies } from '@cardea/service';
import Type, { type Static } from 'typebox';
import type { ExistingUser, ToAscii, UserDirectory } from '../../../accounts/accounts.module.ts';
import {
  closed,
  PASSWORD_BODY_MAX_BYTES,
  SecondFactorDue,
  tokenFields,
} from '../../../http/answers.ts';
import { displayNameField, emailField, newPasswordField } from '../../../http/input-fields.ts';
import { tenantOfPublishableKey, type Workspaces } from '../../../workspaces/workspaces.module.ts';
import { begin, meet } from '../../attempts/attempt.ts';
import type { EndAttempt } from '../../attempts/end-attempt.ts';
import { step } from '../steps.ts';
import { CHECK_YOUR_EMAIL, CheckYourEmail, repeatedRegistration } from '../taken-address.ts';
import {
  type AccountInMaking,
  beginMaking,
  type MakingDependencies,
  makeAccount,
  type Registering,
  refusalOfRegistration,
} from './make-account.ts';
import {
  answerOfRegistration,
  registrantOf,
  startsSession,
  tenantNamed,
  withoutTokens,
} from './register.ts';

type Dependencies = MakingDependencies &
  Pick<ServiceDependencies, 'clock' | 'database' | 'identify'> & {
    readonly userDirectory: Pick<UserDirectory, 'byId'>;
    readonly workspaces: Pick<Workspaces, 'tenant'>;
    readonly endAttempt: EndAttempt;
    readonly toAscii: ToAscii;
  };

const Body = closed({
  email: emailField,
  password: newPasswordField,
  display_name: Type.Optional(displayNameField),
  publishable_key: Type.Optional(Type.String()),
});
type Body = Static<typeof Body>;
type Asked = Request<object, object, Body>;

const Ok = Type.Union([
  named('Registered', closed({ user_id: Type.String(), ...tokenFields })),
  named(
    'RegisteredUnverified',
    closed({ user_id: Type.String(), verification_required: Type.Literal(true) }),
  ),
  CheckYourEmail,
  named(
    'CheckYourEmailToVerify',
    closed({
      status: Type.Literal(CHECK_YOUR_EMAIL),
      user_id: Type.Literal(''),
      verification_required: Type.Literal(true),
    }),
  ),
  SecondFactorDue,
]);

export const registerRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      name: 'register',
      summary: 'Register a user in an existing tenant',
      description:
        'Registers a user in a tenant that exists, named by header or publishable key. A taken address gets the same status, and its owner a mail. In a tenant that demands verified addresses there are no tokens before the mailed link was opened. An address may register 20 users an hour.',
      tag: 'Authentication',
      method: 'post',
      path: '/api/v1/auth/register',
      who: 'anyone',
      tenant: 'optional',
      body: Body,
      ok: Ok,
      response: { status: 201, isSecret: true },
      refusals: {
        invalid_email: 400,
        invalid_request: 400,
        password_too_short: 400,
        password_too_long: 400,
        password_too_weak: 400,
        password_breached: 400,
        tenant_required: 400,
        invalid_publishable_key: 401,
        tenant_mismatch: 403,
        registration_closed: 403,
        tenant_not_found: 404,
        already_created: 409,
        rate_limited: 429,
      },
      repeat: 'by_key_in_handler',
      consistency: { waitsFor: ['users', 'sessions'] },
      input: { limitBytes: PASSWORD_BODY_MAX_BYTES },
    },
    async (request) => {
      const { body } = request;
      const read = registrantOf(body, needs.toAscii);
      if ('refused' in read) return read;
      const tenant = await tenantAsked(needs, request);
      if (typeof tenant === 'string') return { refused: tenant };
      const { ip } = request;
      const refusal = await refusalOfRegistration(needs, { ip, password: body.password, tenant });
      if (refusal !== undefined) return refusal;
      const of = { tenant, ...read.registrant };
      const answer = await registered(needs, await needs.identify(request), of);
      return 'ok' in answer ? { ...answer, ofTenant: tenant.id } : answer;
    },
  );

async function tenantAsked(
  needs: Pick<Dependencies, 'clock' | 'database' | 'workspaces'>,
  { body, tenantId }: Asked,
) {
  const { publishable_key: key } = body;
  const byKey = key === undefined ? key : ((await tenantOfPublishableKey(needs, key)) ?? null);
  const named = tenantNamed({ byHeader: tenantId, byKey });
  if ('refused' in named) return named.refused;
  return (await needs.workspaces.tenant(named.tenantId)) ?? 'tenant_not_found';
}

/** This step follows the creation of the account and the request for its mail. */
const SESSION = step(1, startSession);

async function registered(needs: Dependencies, request: Asked, of: Registering) {
  const { tenant } = of;
  const userId = newId(needs, request, 'user');
  const repeat = await repeatedRegistration(needs, request, { tenantId: tenant.id, userId });
  if (repeat !== undefined) return repeat;

  const own = { ...of, userId, password: request.body.password };
  const making = await beginMaking(needs, request, own);
  const made = await makeAccount(needs, making, startsSession(tenant.settings) ? [SESSION] : []);
  if (made.outcome === 'deleted') return alreadyCreated(userId);
  if (made.outcome === 'taken') return { ok: withoutTokens(tenant.settings), wrote: made.mailed };
  const ended = await SESSION.run(needs, making, { request, user: made.user });
  const ok = answerOfRegistration(ended, { userId, settings: tenant.settings });
  return { ok, wrote: ended.status === 'session' ? ended.wrote : (made.mailed ?? made.position) };
}

/** The person has just chosen the password, so it counts as verified. */
async function startSession(
  { endAttempt }: Dependencies,
  { tenant, command }: AccountInMaking,
  { request, user }: { readonly request: Asked; readonly user: ExistingUser },
) {
  const { settings } = tenant;
  const begun = begin({ via: 'register', first: 'password', user, settings });
  const attempt = meet(begun, true);
  if (attempt.status === 'refused') return attempt;
  return endAttempt.inSession(attempt, { request, tenant, readAt: command.now }, command);
}
