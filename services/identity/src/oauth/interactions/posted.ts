/**
 * Functions that the endpoints of an interaction share: they check the posting page's origin, and answer by page or
 * JSON.
 */
import type { Request } from '@cardea/http';
import { asPage, type Html, page, plainPage, send } from '@cardea/pages';
import type { ServiceDependencies } from '@cardea/service';
import Type, { type Static } from 'typebox';
import type { HostedOutcome, HostedSignIn } from '../../authentication/authentication.module.ts';
import { frameOf, type TextKey } from '../../pages/frame.ts';
import type { FindOnward } from '../../pages/onward.ts';
import type { KnownResources } from '../resource-servers/known-resources.ts';
import type { ApplicationSessions } from '../server/application-sessions.ts';
import type { OAuthClients } from '../server/clients.ts';
import type { RunningServer } from '../server/running-server.ts';
import type { UserConsents } from '../server/user-consents.ts';
import {
  findInteraction,
  finish,
  type Interaction,
  keepProgress,
  waitForMail,
} from './interaction.ts';
import { frameFor, interactionPage } from './interaction-page.ts';
import { interactionView, type ViewDependencies } from './interaction-view.ts';
import { recoveryCodesPage } from './sign-in-pages.ts';

export type InteractionDependencies = Pick<ServiceDependencies, 'command' | 'limits' | 'settings'> &
  ViewDependencies & {
    readonly server: RunningServer;
    readonly clients: Pick<OAuthClients, 'findFor'>;
    readonly resources: KnownResources;
    readonly userConsents: Pick<UserConsents, 'grant'>;
    readonly hostedSignIn: HostedSignIn;
    readonly applicationSessions: Pick<ApplicationSessions, 'browserOf'>;
    readonly onward: FindOnward;
  };

export const PATH = '/oauth2/interaction/{uid}';
export const Params = Type.Object({ uid: Type.String({ minLength: 1, maxLength: 128 }) });
const BODY_MAX_BYTES = 16 * 1024;

type Uid = Static<typeof Params>;
export type AnyRequest = Request<Uid, object, unknown>;

export const COMMON = {
  tag: 'OAuth',
  who: 'anyone',
  tenant: 'none',
  response: { errors: 'oauth', isSecret: true },
  params: Params,
} as const;

export const REFUSALS = {
  interaction_not_found: 404,
  tenant_not_found: 404,
  access_denied: 403,
  invalid_email: 400,
  invalid_credentials: 401,
  invalid_code: 401,
  invalid_link: 401,
  invalid_mfa_token: 401,
  invalid_passkey: 401,
  invalid_state: 401,
  email_not_verified: 403,
  login_disabled: 403,
  password_login_disabled: 403,
  passkeys_login_disabled: 403,
  otp_login_disabled: 403,
  user_inactive: 403,
  code_expired: 410,
  link_expired: 410,
  challenge_expired: 410,
  mfa_token_expired: 410,
  enrolment_expired: 410,
  too_many_attempts: 429,
  rate_limited: 429,
} as const;
export type Code = keyof typeof REFUSALS;

export const REGISTRATION_REFUSALS = {
  ...REFUSALS,
  invalid_request: 400,
  password_too_short: 400,
  password_too_long: 400,
  password_too_weak: 400,
  password_breached: 400,
  registration_closed: 403,
} as const;

const FORM = { takesForm: true, limitBytes: BODY_MAX_BYTES } as const;
export const OPTIONAL_FORM = { ...FORM, isOptional: true } as const;

export const POST = {
  ...COMMON,
  method: 'post',
  repeat: 'never',
  input: FORM,
  response: {
    others: { 303: Type.Object({}, { additionalProperties: false }) },
    orPage: true,
    errors: 'oauth',
    isSecret: true,
  },
  ok: Type.Object(
    {
      redirect_to: Type.Optional(Type.String()),
      mfa_required: Type.Optional(Type.Literal(true)),
      mfa_enrollment_required: Type.Optional(Type.Literal(true)),
      mfa_methods: Type.Optional(Type.Array(Type.String())),
      recovery_codes: Type.Optional(Type.Array(Type.String())),
      challenge_id: Type.Optional(Type.String()),
      options: Type.Optional(Type.Object({}, { additionalProperties: true })),
    },
    { additionalProperties: false },
  ),
  refusals: REFUSALS,
} as const;

type Shown = { readonly raw: ReturnType<typeof send> };

export const NOT_FOUND = { refused: 'interaction_not_found' } as const;
export const FOREIGN = { refused: 'access_denied' } as const;

/** Returns undefined if the browser's cookie does not name this interaction. */
export const interactionOf = (
  needs: InteractionDependencies,
  { params, headers }: AnyRequest,
): Promise<Interaction | undefined> => findInteraction(needs, params.uid, headers['cookie']);

/**
 * The browser sends its cookie with a post from any page, so the page's origin must be ours. For pages with a
 * `no-referrer` policy browsers send the origin `null`; then `Sec-Fetch-Site` proves the same origin.
 */
export function isOwnPage(
  { origin, 'sec-fetch-site': site }: AnyRequest['headers'],
  issuer: string,
): boolean {
  const isHidden = origin === undefined || origin === 'null';
  return isHidden ? site === 'same-origin' : origin === new URL(issuer).origin;
}

export async function postedTo(
  needs: InteractionDependencies,
  request: AnyRequest,
): Promise<Interaction | typeof FOREIGN | typeof NOT_FOUND> {
  if (!isOwnPage(request.headers, needs.settings.ISSUER)) return FOREIGN;
  return (await interactionOf(needs, request)) ?? NOT_FOUND;
}

/** The page shows no tenant and no application, since the interaction was not found or the post came from elsewhere. */
export async function failed<Refused extends typeof FOREIGN | typeof NOT_FOUND>(
  { headers }: Pick<AnyRequest, 'headers'>,
  refusal: Refused,
  text: TextKey = refusal.refused === 'access_denied' ? 'failed.foreign' : 'failed.lapsed',
): Promise<Shown | Refused> {
  if (!asPage(headers)) return refusal;
  const frame = frameOf(undefined, headers);
  const shown = plainPage(frame, frame.say('failed.title'), frame.say(text));
  return { raw: send(REFUSALS[refusal.refused], shown) };
}

/** Typed values that the page shows again. */
type Typed = { readonly email?: string | undefined; readonly displayName?: string | undefined };

/** Renders the page of the interaction's current step. */
export async function showInteraction(
  needs: InteractionDependencies,
  request: AnyRequest,
  interaction: Interaction,
  more: Typed & {
    readonly refused?: string | undefined;
    readonly retryAfter?: string | undefined;
  } = {},
): Promise<Html> {
  const view = await interactionView(needs, interaction);
  const frame = frameFor(view, interaction, request.headers);
  const { refused, retryAfter, email, displayName } = more;
  const isReplaced = interaction.progress.step === 'replaced';
  const alert =
    refused === undefined
      ? isReplaced && frame.say('sign_in.replaced')
      : frame.sayRefusal(shownCode(refused), retryAfter);
  return interactionPage(
    {
      frame,
      view,
      email,
      displayName,
      path: `/oauth2/interaction/${view.uid}`,
      alert: alert === false ? undefined : alert,
      publicUrl: needs.settings.PUBLIC_URL,
      tenantId: interaction.client.tenantId,
    },
    interaction,
  );
}

const shownCode = (code: string) => (code.endsWith('_login_disabled') ? 'login_disabled' : code);

/** Refusals that end a sign-in. The person starts again. */
const LAPSED: ReadonlySet<string> = new Set(['invalid_mfa_token', 'mfa_token_expired']);

/**
 * Answers after a factor was checked: continue to the application, show the next page, or show the same page with the
 * reason of the refusal.
 */
export async function answered(
  needs: InteractionDependencies,
  request: AnyRequest,
  of: {
    readonly found: Interaction;
    readonly signIn: (interaction: Interaction) => Promise<HostedOutcome>;
    readonly email?: string | undefined;
  },
) {
  const { found, signIn, email } = of;
  const outcome = await signIn(found);
  switch (outcome.status) {
    case 'signed_in':
      return signedIn(needs, request, { found, outcome });
    case 'second_factor_due': {
      const { mfaToken: token, shown: due } = outcome;
      const isEnrolment = due.mfa_enrollment_required === true;
      const methods = due.mfa_methods;
      await keepProgress(found, { step: 'second_factor', token, methods, isEnrolment });
      return asPage(request.headers) ? redirected(pageOf(request)) : { ok: due };
    }
    case 'refused':
      return refusedAt(needs, request, { found, outcome, email });
  }
}

export const pageOf = ({ params }: AnyRequest): string => `/oauth2/interaction/${params.uid}`;

export const goOn = (request: AnyRequest, redirect_to: string, wrote?: bigint) =>
  asPage(request.headers) ? redirected(redirect_to) : { ok: { redirect_to }, wrote };

export const redirected = (to: string, cookies: Cookies = []) => ({
  raw: (response: {
    readonly writeHead: (status: number, headers: { [name: string]: string | string[] }) => unknown;
    readonly end: () => unknown;
  }): void => {
    response.writeHead(303, {
      Location: to,
      'Cache-Control': 'no-store',
      ...cookieFields(cookies),
    });
    response.end();
  },
});

type Cookies = readonly string[];
const cookieFields = (cookies: Cookies): { readonly 'Set-Cookie'?: string[] } =>
  cookies.length === 0 ? {} : { 'Set-Cookie': [...cookies] };

/**
 * Answers after a mail was sent. The browser continues to the page that waits for the mail, and the flow is kept that
 * long.
 */
export async function mailSent<Ok extends object>(
  needs: InteractionDependencies,
  request: AnyRequest,
  of: Pick<Parameters<typeof waitForMail>[2], 'progress' | 'purpose'> & {
    readonly found: Interaction;
    /** The JSON for a caller that is not a page. */
    readonly ok: Ok;
  },
) {
  const { found, progress, purpose, ok } = of;
  const cookies = await waitForMail(needs, found, { progress, purpose, ip: request.ip });
  return asPage(request.headers)
    ? redirected(pageOf(request), cookies)
    : { ok, headers: cookieFields(cookies) };
}

type Outcome<Status extends HostedOutcome['status']> = Extract<HostedOutcome, { status: Status }>;

async function signedIn(
  needs: InteractionDependencies,
  request: AnyRequest,
  { found, outcome }: { readonly found: Interaction; readonly outcome: Outcome<'signed_in'> },
) {
  const { session, recoveryCodes } = outcome;
  const { user_id: accountId, auth_time: ts, amr, id: acr } = session;
  // The library carries one text from the sign-in to the code: `acr`. It contains the session's id.
  const login = { accountId, ts, amr: [...amr], acr, remember: true };
  const redirect_to = await finish(found, { login });
  if (!asPage(request.headers)) {
    const codes = recoveryCodes === undefined ? {} : { recovery_codes: [...recoveryCodes] };
    return { ok: { redirect_to, ...codes } };
  }
  if (recoveryCodes === undefined) return redirected(redirect_to);
  const view = await interactionView(needs, found);
  const frame = frameFor(view, found, request.headers);
  const shown = recoveryCodesPage(frame, { codes: recoveryCodes, to: redirect_to });
  return { raw: send(200, page(frame, shown)) };
}

export async function refusedAt(
  needs: InteractionDependencies,
  request: AnyRequest,
  of: Typed & { readonly found: Interaction; readonly outcome: Outcome<'refused'> },
) {
  const { found, outcome, ...typed } = of;
  const { code, retryAfter, details, linkFault } = outcome;
  const headers = retryAfter === undefined ? {} : { 'Retry-After': retryAfter };
  if (LAPSED.has(code)) await keepProgress(found, { step: 'restarted' });
  if (!asPage(request.headers)) {
    return { refused: code as Code, headers, ...(details === undefined ? {} : { details }) };
  }
  const progress = LAPSED.has(code) ? ({ step: 'restarted' } as const) : found.progress;
  const usedCode = code === 'invalid_code' ? 'code_used' : 'link_used';
  const shownAs = linkFault === 'used' ? usedCode : code;
  const more = { refused: shownAs, retryAfter, ...typed };
  const shown = await showInteraction(needs, request, { ...found, progress }, more);
  const status = REGISTRATION_REFUSALS[code as keyof typeof REGISTRATION_REFUSALS] ?? 400;
  return { raw: send(status, shown, headers) };
}
