/**
 * Signing in by a mailed secret. The request looks up no account: the mail is written later, if an account has the
 * address.
 */
import type { DerivedKeys } from '@cardea/crypto';
import type { Command } from '@cardea/event-store';
import { networkOf, type Request } from '@cardea/http';
import type { Language } from '@cardea/mail';
import { languageOf } from '@cardea/pages';
import type { ServiceDependencies } from '@cardea/service';
import {
  emailAddress,
  standsFor,
  type ToAscii,
  type UserDirectory,
} from '../../accounts/accounts.module.ts';
import { tooOften } from '../../http/answers.ts';
import { askerOf, drawChallenge, type MailOutbox, mailLimit } from '../../mail/mail.module.ts';
import type { Basis } from '../../streams/basis.ts';
import type { TenantFacts, Workspaces } from '../../workspaces/workspaces.module.ts';
import type { AddressProofs } from '../attempts/address-proofs.ts';
import { begin, meet } from '../attempts/attempt.ts';
import type { EndAttempt, MetAttemptOf } from '../attempts/end-attempt.ts';

type MailedFactor = 'magic_link' | 'otp';

const SENT = 'if the address has an account, a mail is on its way';

export type MailDependencies = Pick<
  ServiceDependencies,
  'command' | 'limits' | 'sealer' | 'streams'
> & {
  readonly userDirectory: Pick<UserDirectory, 'hashOf'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly mailOutbox: Pick<MailOutbox, 'request'>;
  readonly toAscii: ToAscii;
};
export type SendDependencies = MailDependencies &
  Pick<ServiceDependencies, 'random'> & {
    /** Keys derived for `otp/v1`. */
    readonly codeKeys: DerivedKeys;
  };

type Sent =
  | {
      readonly ok: {
        readonly challenge_id: string;
        readonly status: 'sent';
        readonly message: string;
      };
      readonly wrote: bigint | undefined;
    }
  | { readonly disabled: true }
  | { readonly refused: 'invalid_email' | 'tenant_not_found' }
  | ReturnType<typeof tooOften>;

/** Identifies the requester by network: a browser, or the backend of an application. */
export async function networkAsker(
  { sealer }: Pick<ServiceDependencies, 'sealer'>,
  { ip }: Pick<Request<unknown, unknown, unknown>, 'ip'>,
  tenantId: string,
): Promise<string> {
  return askerOf(await sealer.indexHash({ tenantId }, 'network', networkOf(ip)));
}

type AnyRequest = Request<unknown, unknown, unknown>;
type AskedMail = {
  readonly purpose: MailedFactor | 'reset' | 'verify' | 'notice';
  readonly email: string;
  readonly language: Language | undefined;
  readonly interaction?: string;
};

/** Requests a mail to an address. Every address costs the same reads and one append. */
export async function requestMail(
  needs: MailDependencies,
  request: AnyRequest,
  tenantId: string,
  mail: AskedMail,
) {
  const emailHash = await needs.userDirectory.hashOf(tenantId, mail.email);
  const of = { tenantId, emailHash, ip: request.ip, by: 'anyone' } as const;
  const limited = await mailLimit(needs, of);
  if (limited !== undefined) return tooOften(limited);
  const command = await needs.command(request, { tenantId });
  const asker = await networkAsker(needs, request, tenantId);
  const asked = { ...mail, emailHash, userId: null, asker };
  return { emailHash, asker, wrote: await needs.mailOutbox.request(asked, command) };
}

export async function send(
  needs: SendDependencies,
  request: Request<unknown, unknown, { readonly email: string }>,
  purpose: MailedFactor,
  /** The page at which the mail was requested. */
  at: { readonly interaction?: string; readonly language?: Language | undefined } = {},
): Promise<Sent> {
  const email = emailAddress(request.body.email, needs.toAscii);
  if (email === undefined) return { refused: 'invalid_email' };
  const tenant = await needs.workspaces.tenant(request.tenantId);
  if (tenant === undefined) return { refused: 'tenant_not_found' };
  if (!tenant.settings.auth_methods.includes(purpose)) {
    return { disabled: true } as const;
  }
  const mail = { purpose, email, language: languageOf(request.headers), ...at };
  const asked = await requestMail(needs, request, tenant.id, mail);
  if ('refused' in asked) return asked;
  const { emailHash, asker, wrote } = asked;
  const challenge_id = drawChallenge(
    needs.codeKeys,
    { tenantId: tenant.id, mailbox: emailHash, asker },
    needs.random,
  );
  return { ok: { challenge_id, status: 'sent', message: SENT }, wrote };
}

export type RedeemDependencies = Pick<ServiceDependencies, 'clock' | 'command'> & {
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
  readonly addressProofs: AddressProofs;
};
export type VerifyDependencies = RedeemDependencies & { readonly endAttempt: EndAttempt };

type Redeeming<Fault> = {
  readonly factor: MailedFactor;
  readonly tenant: TenantFacts;
  /** The secret's user and basis when it was found. */
  readonly secret: { readonly userId: string; readonly basis: Basis };
  readonly redeem: (command: Command) => Promise<Fault | 'redeemed'>;
};

type Faulty<Fault> = { readonly fault: Fault | 'invalid' | 'login_disabled' };

/**
 * Begins an attempt by a mailed secret. `redeem` consumes the secret and returns the outcome; of two concurrent calls
 * one succeeds.
 */
export async function mailedAttempt<Fault>(
  needs: RedeemDependencies,
  request: Request<unknown, unknown, unknown>,
  of: Redeeming<Fault>,
): Promise<Faulty<Fault> | MetAttemptOf<MailedFactor>> {
  const { factor, tenant, secret } = of;
  const { userId } = secret;
  const readAt = needs.clock.now();
  const user = await needs.userDirectory.byId(tenant.id, userId);
  if (!standsFor(user, secret.basis)) return { fault: 'invalid' };
  const command = await needs.command(request, {
    tenantId: tenant.id,
    actor: { type: 'user', id: userId },
  });
  const redeemed = await of.redeem(command);
  if (redeemed !== 'redeemed') return { fault: redeemed };
  // This happens before a second factor is due, since another person may have enrolled that factor.
  const { basis } = secret;
  const proven =
    user.status === 'active'
      ? await needs.addressProofs.record({ user, basis, request }, command)
      : { user };
  if (proven === undefined) return { fault: 'invalid' };
  const { settings } = tenant;
  const begun = begin({ via: 'login', first: factor, user: proven.user, settings });
  const attempt = meet(begun, true);
  if (attempt.status === 'refused') {
    // The holder of the secret may learn that the tenant does not allow the method. Any other refusal looks like a
    // wrong secret.
    return { fault: attempt.reason === 'login_disabled' ? attempt.reason : 'invalid' };
  }
  return { attempt, command, tenant, readAt };
}

export async function signInBy<Fault>(
  needs: VerifyDependencies,
  request: Request<unknown, unknown, unknown>,
  of: Redeeming<Fault>,
) {
  const met = await mailedAttempt(needs, request, of);
  if ('fault' in met) return { fault: met.fault } as const;
  const { attempt, command, tenant, readAt } = met;
  const ended = await needs.endAttempt.inToken(attempt, { request, tenant, readAt }, command);
  if (ended.status === 'refused') return { fault: 'invalid' } as const;
  return ended.status === 'second_factor_due'
    ? ({ ok: ended.answer } as const)
    : ({ ok: ended.signedIn, wrote: ended.wrote } as const);
}
