/**
 * Signs in by a mailed code: an access token, no session. The code is looked for in the mailbox that the
 * challenge, the address or the cookie names; without any of them in the whole tenant, more rarely.
 */
import type { DerivedKeys } from '@cardea/crypto';
import { type Endpoint, endpoint, networkOf, type Request } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type, { type Static } from 'typebox';
import type { ToAscii, UserDirectory } from '../../../accounts/accounts.module.ts';
import {
  closed,
  PASSWORD_BODY_MAX_BYTES,
  SecondFactorDue,
  SignedInByMail,
  tooManyAttempts,
  tooOften,
} from '../../../http/answers.ts';
import { emailField } from '../../../http/input-fields.ts';
import { LIMITS } from '../../../http/limits.ts';
import type { CodeRedemption } from '../../../mail/mail.module.ts';
import type { TenantFacts, Workspaces } from '../../../workspaces/workspaces.module.ts';
import { signInBy, type VerifyDependencies } from '../mailed-secret.ts';
import {
  INVALID_CODE,
  mailboxNamed,
  mayBeUnbound,
  type NamedMailbox,
  refusalOfCode,
} from './verify-code.ts';

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
type BoundTo = Exclude<NamedMailbox, { by: 'no_address' }>;
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
      ok: Type.Union([SignedInByMail, SecondFactorDue]),
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
      const { body, headers } = request;
      const naming = {
        challenge: body.challenge_id,
        email: body.email,
        cookies: headers['cookie'],
      };
      const named = mailboxNamed(naming, { ...needs, tenantId: tenant.id });
      if (named.by === 'no_address') return { refused: 'invalid_email' };
      const answer = await lookedFor(needs, request, { tenant, named });
      if ('refused' in answer) await needs.limits.take(LIMITS.codeFailuresByIp, request.ip);
      return answer;
    },
  );

async function lookedFor(
  needs: Dependencies,
  request: Asked,
  of: { readonly tenant: TenantFacts; readonly named: BoundTo },
) {
  const { tenant, named } = of;
  switch (named.by) {
    case 'unknown_challenge':
      return INVALID_CODE;
    case 'nothing':
      return await unbound(needs, request, tenant);
    case 'challenge':
      return await verified(needs, request, { tenant, mailbox: named.mailbox });
    case 'email': {
      const mailbox = await needs.userDirectory.hashOf(tenant.id, named.email);
      return await verified(needs, request, { tenant, mailbox });
    }
  }
}

/** Counted before the code is looked at, and given back when it was right. */
async function unbound(needs: Dependencies, request: Asked, tenant: TenantFacts) {
  if (!mayBeUnbound(tenant.settings.otp.format)) return INVALID_CODE;
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
  { tenant, mailbox }: { readonly tenant: TenantFacts; readonly mailbox: string | undefined },
) {
  const { id: tenantId, settings } = tenant;
  const typed = { format: settings.otp.format, typed: request.body.code, mailbox };
  const found = await codes.find(typed, tenantId);
  // A miss is an append to the mailbox that it was meant for, whoever has the address.
  const missed = async () => {
    const command = await needs.command(request, { tenantId });
    return refusalOfCode(mailbox === undefined ? 'invalid' : await codes.miss(mailbox, command));
  };
  if (found === undefined) return await missed();
  const answer = await signInBy(needs, request, {
    factor: 'otp',
    tenant,
    userId: found.userId,
    redeem: (command) => codes.redeem(found, command),
  });
  return answer.fault === undefined ? answer : refusalOfCode(answer.fault);
}
