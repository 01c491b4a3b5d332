/**
 * Signs in by a mailed code: an access token, no session. The code is looked for in the mailbox that the
 * challenge, the address or the cookie names; without any of them in the whole tenant, more rarely.
 */
import type { DerivedKeys } from '@cardea/crypto';
import { type Endpoint, endpoint, networkOf, type Request } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type, { type Static } from 'typebox';
import {
  emailAddress,
  type ToAscii,
  type UserDirectory,
} from '../../../accounts/accounts.module.ts';
import {
  accessTokenFields,
  closed,
  PASSWORD_BODY_MAX_BYTES,
  tooManyAttempts,
  tooOften,
} from '../../../http/answers.ts';
import { emailField } from '../../../http/input-fields.ts';
import { LIMITS } from '../../../http/limits.ts';
import {
  type CodeFault,
  type CodeRedemption,
  mailboxOfChallenge,
} from '../../../mail/mail.module.ts';
import type { TenantFacts, Workspaces } from '../../../workspaces/workspaces.module.ts';
import { challengeOfCookie } from '../code-cookie.ts';
import { signInBy, type VerifyDependencies } from '../mailed-secret.ts';

type Dependencies = VerifyDependencies &
  Pick<ServiceDependencies, 'limits' | 'sealer'> & {
    readonly userDirectory: Pick<UserDirectory, 'byId' | 'hashOf'>;
    readonly workspaces: Pick<Workspaces, 'tenant'>;
    readonly codes: CodeRedemption;
    readonly codeKeys: DerivedKeys;
    readonly toAscii: ToAscii;
  };

const Body = closed({
  code: Type.String(),
  challenge_id: Type.Optional(Type.String()),
  email: Type.Optional(emailField),
});
type Asked = Request<object, object, Static<typeof Body>>;

export const verifyCodeRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      name: 'verify_otp',
      summary: 'Sign in by a mailed code',
      tag: 'Authentication',
      method: 'post',
      path: '/api/v1/auth/otp/verify',
      who: 'anyone',
      tenant: 'required',
      area: 'user',
      retry: 'never',
      body: Body,
      ok: closed(accessTokenFields),
      refusals: {
        invalid_email: 400,
        invalid_code: 401,
        otp_login_disabled: 403,
        tenant_not_found: 404,
        code_expired: 410,
        too_many_attempts: 429,
        rate_limited: 429,
      },
      noStore: true,
      waitsFor: ['users'],
      recordsItsRefusals: true,
      bodyLimitBytes: PASSWORD_BODY_MAX_BYTES,
    },
    async (request) => {
      const tenant = await needs.workspaces.tenant(request.tenantId);
      if (tenant === undefined) return { refused: 'tenant_not_found' };
      const byIp = await needs.limits.look(LIMITS.codeFailuresByIp, request.ip);
      if (!byIp.allowed) return tooOften(byIp);
      const mailbox = await mailboxNamed(needs, request, tenant);
      if (mailbox === 'invalid_email') return { refused: mailbox };
      const answer =
        mailbox === 'none'
          ? await unbound(needs, request, tenant)
          : await verified(needs, request, { tenant, mailbox });
      if ('refused' in answer) await needs.limits.take(LIMITS.codeFailuresByIp, request.ip);
      return answer;
    },
  );

const INVALID = { refused: 'invalid_code' } as const;

/** Null: something was named that is no mailbox of ours. */
async function mailboxNamed(
  { codeKeys, userDirectory, toAscii }: Dependencies,
  { body, headers }: Asked,
  { id: tenantId }: TenantFacts,
): Promise<string | null | 'none' | 'invalid_email'> {
  if (body.challenge_id !== undefined) {
    return mailboxOfChallenge(codeKeys, tenantId, body.challenge_id) ?? null;
  }
  if (body.email !== undefined) {
    const email = emailAddress(body.email, toAscii);
    return email === undefined ? 'invalid_email' : userDirectory.hashOf(tenantId, email);
  }
  const cookie = challengeOfCookie(headers['cookie']);
  return cookie === undefined ? 'none' : (mailboxOfChallenge(codeKeys, tenantId, cookie) ?? null);
}

/** Counted before the code is looked at, and given back when it was right. */
async function unbound(needs: Dependencies, request: Asked, tenant: TenantFacts) {
  if (tenant.settings.otp.format === 'digits6') return INVALID;
  const prefix = await needs.sealer.indexHash(
    { tenantId: tenant.id },
    'network',
    networkOf(request.ip),
  );
  const byTenant = await needs.limits.take(LIMITS.unboundCodesByTenant, tenant.id);
  if (!byTenant.allowed) return tooManyAttempts(byTenant);
  const byPrefix = await needs.limits.take(LIMITS.unboundCodesByPrefix, `${tenant.id}:${prefix}`);
  if (!byPrefix.allowed) return tooManyAttempts(byPrefix);
  const answer = await verified(needs, request, { tenant, mailbox: undefined });
  if ('ok' in answer) await Promise.all([byTenant.giveBack(), byPrefix.giveBack()]);
  return answer;
}

async function verified(
  { codes, ...needs }: Dependencies,
  request: Asked,
  {
    tenant,
    mailbox,
  }: { readonly tenant: TenantFacts; readonly mailbox: string | null | undefined },
) {
  if (mailbox === null) return INVALID;
  const { id: tenantId, settings } = tenant;
  const typed = { format: settings.otp.format, typed: request.body.code, mailbox };
  const found = await codes.find(typed, tenantId);
  // A miss is an append to the mailbox that it was meant for, whoever has the address.
  const missed = async () => {
    const command = await needs.command(request, { tenantId });
    return answerTo(mailbox === undefined ? 'invalid' : await codes.miss(mailbox, command));
  };
  if (found === undefined) return await missed();
  const answer = await signInBy(needs, request, {
    factor: 'otp',
    tenant,
    userId: found.userId,
    redeem: (command) => codes.redeem(found, command),
  });
  return answer.fault === undefined ? answer : answerTo(answer.fault);
}

const RETRY_AFTER_SECONDS = 60;

function answerTo(fault: CodeFault | 'login_disabled') {
  switch (fault) {
    case 'too_many_attempts':
      return tooManyAttempts({ retryAfterSeconds: RETRY_AFTER_SECONDS });
    case 'login_disabled':
      return { refused: 'otp_login_disabled' } as const;
    case 'expired':
      return { refused: 'code_expired' } as const;
    case 'invalid':
      return INVALID;
  }
}
