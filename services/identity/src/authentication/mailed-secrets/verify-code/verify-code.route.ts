/**
 * Signs in by a mailed code. The result is an access token without a session. The code is looked up in the mailbox that
 * the challenge, the address or the cookie names. Without any of these it is looked up in the whole tenant, with a
 * lower limit.
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
import { networkAsker, signInBy, type VerifyDependencies } from '../mailed-secret.ts';
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
      description:
        'Signs a user in by a mailed code, which works once. The answer has an access token and no session, or `mfa_required`. Five wrong codes end the code.',
      tag: 'Authentication',
      method: 'post',
      path: '/api/v1/auth/otp/verify',
      who: 'anyone',
      repeat: 'never',
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
      response: { isSecret: true },
      consistency: { waitsFor: ['users'] },
      input: { limitBytes: PASSWORD_BODY_MAX_BYTES },
    },
    async (request) => {
      const tenant = await needs.workspaces.tenant(request.tenantId);
      if (tenant === undefined) return { refused: 'tenant_not_found' };
      const { body, headers } = request;
      const naming = {
        challenge: body.challenge_id,
        email: body.email,
        cookies: headers['cookie'],
      };
      const named = mailboxNamed(naming, { ...needs, tenantId: tenant.id });
      if (named.by === 'no_address') return { refused: 'invalid_email' };
      return await lookedFor(needs, request, { tenant, named });
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
      return await counted(needs, request, { tenant, answer: INVALID_CODE });
    case 'nothing':
      return mayBeUnbound(tenant.settings.otp.format)
        ? await verified(needs, request, { tenant, mailbox: undefined, asker: undefined })
        : INVALID_CODE;
    case 'challenge':
      return await verified(needs, request, { ...named, tenant });
    case 'email': {
      const mailbox = await needs.userDirectory.hashOf(tenant.id, named.email);
      const asker = await networkAsker(needs, request, tenant.id);
      return await verified(needs, request, { tenant, mailbox, asker });
    }
  }
}

/**
 * A right code is always accepted, however many wrong ones came from the address, because many people may share it.
 * Guessing is limited by the length and lifetime of a code; a short code also by the few failures that its mailbox
 * allows.
 */
async function verified(
  { codes, ...needs }: Dependencies,
  request: Asked,
  of: {
    readonly tenant: TenantFacts;
    readonly mailbox: string | undefined;
    readonly asker: string | undefined;
  },
) {
  const { tenant, mailbox, asker } = of;
  const { id: tenantId, settings } = tenant;
  const typed = { format: settings.otp.format, typed: request.body.code, mailbox, asker };
  const found = await codes.find(typed, tenantId);
  // A failure is an append to the mailbox that the code was meant for, whether or not the address has an account.
  const missed = async () => {
    const command = await needs.command(request, { tenantId });
    return refusalOfCode(
      mailbox === undefined
        ? 'invalid'
        : await codes.miss({ purpose: 'otp', mailbox, asker }, command),
    );
  };
  if (found === undefined) {
    const isUnbound = mailbox === undefined;
    return await counted(needs, request, { tenant, isUnbound, answer: await missed() });
  }
  const answer = await signInBy(needs, request, {
    factor: 'otp',
    tenant,
    secret: found,
    redeem: (command) => codes.redeem(found, command),
  });
  return answer.fault === undefined ? answer : refusalOfCode(answer.fault);
}

/** Counts a failure. Returns the response to it, or that there were too many. */
async function counted<Answer>(
  { limits, sealer }: Pick<Dependencies, 'limits' | 'sealer'>,
  { ip }: Asked,
  of: { readonly tenant: TenantFacts; readonly isUnbound?: boolean; readonly answer: Answer },
) {
  const { tenant, isUnbound = false, answer } = of;
  const byIp = [LIMITS.codeFailuresByIp, ip] as const;
  if (!isUnbound) {
    const taken = await limits.take(byIp);
    if (!taken.allowed) return tooOften(taken);
    await taken.keep();
    return answer;
  }
  const prefix = await sealer.indexHash({ tenantId: tenant.id }, 'network', networkOf(ip));
  const taken = await limits.take(
    [LIMITS.unboundCodesByTenant, tenant.id],
    [LIMITS.unboundCodesByPrefix, `${tenant.id}:${prefix}`],
  );
  if (!taken.allowed) return tooManyAttempts(taken);
  await taken.keep();
  return answer;
}
