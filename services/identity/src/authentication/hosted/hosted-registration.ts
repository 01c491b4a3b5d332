/**
 * Registration at the hosted pages: the API's decision, then the mailed proof of the address in the browser that
 * registered. The page does not reveal whether an address is taken: for a taken one it waits for a code that is never
 * sent.
 */
import type { Request } from '@cardea/http';
import type { Language } from '@cardea/mail';
import { newId, type ServiceDependencies } from '@cardea/service';
import {
  exists,
  standsFor,
  type ToAscii,
  type UserDirectory,
} from '../../accounts/accounts.module.ts';
import { countingRefusals } from '../../http/counting-refusals.ts';
import { LIMITS } from '../../http/limits.ts';
import type { CodeRedemption, MailedFault, MailOutbox } from '../../mail/mail.module.ts';
import type { TenantFacts, Workspaces } from '../../workspaces/workspaces.module.ts';
import type { AddressProofs } from '../attempts/address-proofs.ts';
import { begin, meet } from '../attempts/attempt.ts';
import type { MetAttemptOf } from '../attempts/end-attempt.ts';
import {
  type MailDependencies,
  networkAsker,
  requestMail,
} from '../mailed-secrets/mailed-secret.ts';
import { refusalOfLogin } from '../passwords/log-in/password-attempt.ts';
import {
  beginMaking,
  type MakingDependencies,
  makeAccount,
  refusalOfRegistration,
} from '../registrations/register/make-account.ts';
import { registrantOf } from '../registrations/register/register.ts';

type AnyRequest = Request<unknown, unknown, unknown>;

/** The interaction of the registration, and the language of its page. */
type At = { readonly interaction: string; readonly language: Language | undefined };

/** A registration that waits for the proof of its address. */
export type PendingRegistration = {
  readonly email: string;
  /** If the address was taken, this id belongs to no user. */
  readonly userId: string;
  /** The mail that is sent again. */
  readonly mail: 'verify' | 'notice';
};

type Dependencies = MakingDependencies &
  MailDependencies &
  Pick<ServiceDependencies, 'clock' | 'sealer'> & {
    readonly userDirectory: Pick<UserDirectory, 'byId' | 'hashOf'>;
    readonly workspaces: Pick<Workspaces, 'tenant'>;
    readonly mailOutbox: Pick<MailOutbox, 'peek' | 'redeem' | 'request'>;
    readonly codes: Pick<CodeRedemption, 'find' | 'redeem'>;
    readonly addressProofs: AddressProofs;
    readonly toAscii: ToAscii;
  };

export type Registration = {
  readonly email: string;
  readonly password: string;
  readonly displayName: string | undefined;
};

const NO_TENANT = { refused: 'tenant_not_found' } as const;

/** Creates the account and sends the mail that proves its address. */
export async function registerHosted(
  needs: Dependencies,
  request: AnyRequest,
  { email: typed, password, displayName, ...at }: Registration & At,
) {
  const named = displayName === undefined ? {} : { display_name: displayName };
  const read = registrantOf({ email: typed, ...named }, needs.toAscii);
  if ('refused' in read) return read;
  const tenant = await needs.workspaces.tenant(request.tenantId);
  if (tenant === undefined) return NO_TENANT;
  const refusal = await refusalOfRegistration(needs, { ip: request.ip, password, tenant });
  if (refusal !== undefined) return refusal;
  const userId = newId(needs, request, 'user');
  const of = { ...read.registrant, ...at, tenant, userId, password };
  const made = await makeAccount(needs, await beginMaking(needs, request, of));
  const mail = made.outcome === 'created' ? 'verify' : 'notice';
  return { pending: { email: read.registrant.email, userId, mail } as const };
}

/** Sends the same mail again. */
export async function mailRegistrationAgain(
  needs: Dependencies,
  request: AnyRequest,
  { email, mail: purpose, interaction, language }: PendingRegistration & At,
) {
  const at = purpose === 'verify' ? { interaction } : {};
  return requestMail(needs, request, request.tenantId, { purpose, email, language, ...at });
}

export type ShownProof = PendingRegistration &
  ({ readonly token: string } | { readonly code: string });

/**
 * Signs in the person who registered in this browser and enters the mailed code. Only this browser's registration can
 * be proven here, so wrong codes count against that registration.
 */
export async function proveRegistration(
  needs: Dependencies,
  request: AnyRequest,
  shown: ShownProof,
): Promise<MetAttemptOf | RefusedProof> {
  const tenant = await needs.workspaces.tenant(request.tenantId);
  if (tenant === undefined) return NO_TENANT;
  const charges = [
    [LIMITS.codeFailuresByIp, request.ip],
    [LIMITS.registrationCodes, shown.userId],
  ] as const;
  return countingRefusals(needs.limits, charges, () => proven(needs, request, { tenant, shown }));
}
type RefusedProof = {
  readonly refused: string;
  readonly linkFault?: MailedFault;
  readonly headers?: { readonly [name: string]: string };
};

async function proven(
  needs: Dependencies,
  request: AnyRequest,
  { tenant, shown }: { readonly tenant: TenantFacts; readonly shown: ShownProof },
): Promise<MetAttemptOf | RefusedProof> {
  const tenantId = tenant.id;
  const found = await mailedProof(needs, request, { tenant, shown });
  if ('refused' in found) return found;
  const { basis, redeem, invalid } = found;
  const { userId } = shown;
  const readAt = needs.clock.now();
  const user = await needs.userDirectory.byId(tenantId, userId);
  if (found.userId !== userId || !exists(user) || !standsFor(user, basis)) return invalid;
  const command = await needs.command(request, { tenantId, actor: { type: 'user', id: userId } });
  const refused = await redeem(command);
  if (refused !== undefined) return refused;
  // The password was chosen in this browser, which has kept the registration since.
  const own = { user, basis, request, knowsPassword: true };
  const recorded = await needs.addressProofs.record(own, command);
  if (recorded === undefined) return invalid;
  const { settings } = tenant;
  const begun = begin({ via: 'register', first: 'password', user: recorded.user, settings });
  const attempt = meet(begun, true);
  if (attempt.status === 'refused') return refusalOfLogin(attempt);
  return { attempt, command, tenant, readAt };
}

const INVALID_CODE = { refused: 'invalid_code' } as const;
const CODE_EXPIRED = { refused: 'code_expired' } as const;
const INVALID_LINK = { refused: 'invalid_link' } as const;
const LINK_EXPIRED = { refused: 'link_expired' } as const;
const refusalOfLink = (linkFault: MailedFault) =>
  linkFault === 'expired' ? LINK_EXPIRED : { ...INVALID_LINK, linkFault };

/** Consumes the mailed proof and returns its owner, or the reason why it cannot be used. */
async function mailedProof(
  needs: Dependencies,
  request: AnyRequest,
  { tenant, shown }: { readonly tenant: TenantFacts; readonly shown: ShownProof },
) {
  const tenantId = tenant.id;
  if ('token' in shown) {
    const { token } = shown;
    const at = { tenantId, now: needs.clock.now() };
    const peeked = await needs.mailOutbox.peek('verify', token, at);
    if ('fault' in peeked) return refusalOfLink(peeked.fault);
    const redeem = async (command: Parameters<MailOutbox['redeem']>[2]) => {
      const redeemed = await needs.mailOutbox.redeem('verify', token, command);
      return 'fault' in redeemed ? refusalOfLink(redeemed.fault) : undefined;
    };
    return { ...peeked, redeem, invalid: INVALID_LINK };
  }
  const mailbox = await needs.userDirectory.hashOf(tenantId, shown.email);
  const asker = await networkAsker(needs, request, tenantId);
  const { format } = tenant.settings.otp;
  const typed = { purpose: 'verify', format, typed: shown.code, mailbox, asker } as const;
  const code = await needs.codes.find(typed, tenantId);
  if (code === undefined) return INVALID_CODE;
  const redeem = async (command: Parameters<MailOutbox['redeem']>[2]) => {
    const redeemed = await needs.codes.redeem(code, command);
    if (redeemed === 'redeemed') return undefined;
    if (redeemed === 'used') return { ...INVALID_CODE, linkFault: redeemed };
    return redeemed === 'expired' ? CODE_EXPIRED : INVALID_CODE;
  };
  return { ...code, redeem, invalid: INVALID_CODE };
}
