/** The settings of a tenant as its owners see and change them. */
import {
  AGENT_ACCESS_SECONDS_MAX,
  AGENT_ACCESS_SECONDS_MIN,
  ApproverSetShape,
  named,
} from '@cardea/contracts';
import { LANGUAGES } from '@cardea/mail';
import Type from 'typebox';
import { closed } from '../../http/answers.ts';
import { FILLED_NAME, nullable } from '../../http/input-fields.ts';
import { SOCIAL_PROVIDERS, SocialChange, SocialShape, shownSocial } from './social-settings.ts';
import { type Branding, REGISTRATION_MODES, type TenantFacts } from './tenant.ts';

/** The lowest minimum length of passwords that a policy may set, in characters. */
const LEAST_LENGTH_MIN = 8;
const LEAST_LENGTH_MAX = 64;
const PASSWORD_HISTORY_MAX = 10;
const ABSOLUTE_TTL_MIN_S = 300;
const ABSOLUTE_TTL_MAX_S = 365 * 24 * 3600;
const BROWSER_TTL_MAX_S = 30 * 24 * 3600;
const LEEWAY_MAX_S = 60;
const ROLES_MAX = 50;
const REDIRECT_URIS_MAX = 50;
const URL_CHARACTERS_MAX = 2_048;
const EMAIL_CHARACTERS_MAX = 254;
const FROM_NAME_CHARACTERS_MAX = 64;
const DELETION_WAIT_MAX_DAYS = 30;
const ADDRESS = '^[^@\\s<>,;"\\u0000-\\u001f]+@[^@\\s<>,;"\\u0000-\\u001f]+$';

const httpsUrl = nullable(
  Type.String({
    pattern: '^https://',
    maxLength: URL_CHARACTERS_MAX,
    examples: ['https://example.com/page'],
  }),
);
const color = nullable(Type.String({ pattern: '^#[0-9a-fA-F]{6}$', examples: ['#1a6b52'] }));

const passwordPolicy = {
  min: Type.Integer({ minimum: LEAST_LENGTH_MIN, maximum: LEAST_LENGTH_MAX }),
  common: named('CommonPasswords', Type.Enum(['allow', 'refuse'])),
  /** The minimum zxcvbn score of a password. */
  zxcvbn_score: nullable(Type.Integer({ minimum: 1, maximum: 4 })),
  /** Whether passwords from known leaks are refused. */
  breach_check: Type.Boolean(),
  /** The number of last passwords that may not be set again. */
  history: Type.Integer({ minimum: 0, maximum: PASSWORD_HISTORY_MAX }),
};
const registration = {
  mode: named('RegistrationMode', Type.Enum([...REGISTRATION_MODES])),
  /** Null means uniform if and only if verification is required. */
  uniform_response: Type.Union([Type.Boolean(), Type.Null()]),
};
/** The time in seconds after which a session ends, no matter how often it is refreshed. */
const session = {
  absolute_ttl: Type.Integer({ minimum: ABSOLUTE_TTL_MIN_S, maximum: ABSOLUTE_TTL_MAX_S }),
  browser_ttl_seconds: Type.Integer({ minimum: ABSOLUTE_TTL_MIN_S, maximum: BROWSER_TTL_MAX_S }),
};
const refresh = {
  mode: named('RefreshMode', Type.Enum(['leeway', 'strict', 'idempotent'])),
  leeway_seconds: Type.Integer({ minimum: 0, maximum: LEEWAY_MAX_S }),
};
/** Whether clients may describe themselves by a document. Null means in development only. */
const oauth = { cimd_enabled: nullable(Type.Boolean()) };
/**
 * Origins of pages and of Android apps. An Android app's origin is the SHA-256 of its signing key
 * (developer.android.com, "Create a passkey"; Credential Manager has used both names). An iOS app has the origin of its
 * domain.
 */
const PASSKEY_ORIGIN = '^(?:https?://[^/]+|android:apk-key-hash(?:-sha256)?:[A-Za-z0-9_-]{43})$';
/** Null means the host of `app_url`, or of the service. */
const webauthn = {
  rp_id: nullable(Type.String({ pattern: '^[a-z0-9.-]{1,253}$', examples: ['example.com'] })),
  origins: Type.Array(
    Type.String({
      pattern: PASSKEY_ORIGIN,
      maxLength: 253,
      examples: ['https://example.com'],
    }),
    { maxItems: 10, uniqueItems: true },
  ),
};
/** Sender name and reply address of mail to the tenant's users. Null means the deployment's. */
const email = {
  from_name: nullable(
    Type.String({
      minLength: 1,
      maxLength: FROM_NAME_CHARACTERS_MAX,
      pattern: FILLED_NAME,
      examples: ['Example'],
    }),
  ),
  reply_to: nullable(
    Type.String({
      pattern: ADDRESS,
      maxLength: EMAIL_CHARACTERS_MAX,
      examples: ['help@example.com'],
    }),
  ),
};
const otp = { format: named('OtpFormat', Type.Enum(['base32', 'digits6'])) };
const branding = {
  logo_url: httpsUrl,
  icon_url: httpsUrl,
  primary_color: color,
  background_color: color,
  support_email: nullable(
    Type.String({
      pattern: '^[^@\\s]+@[^@\\s]+$',
      examples: ['help@example.com'],
      maxLength: EMAIL_CHARACTERS_MAX,
    }),
  ),
  terms_url: httpsUrl,
  privacy_url: httpsUrl,
};
/** How long people can cancel the deletion of their account. */
const accountDeletion = {
  allowed: Type.Boolean(),
  wait_days: Type.Integer({ minimum: 1, maximum: DELETION_WAIT_MAX_DAYS }),
};
const agentAccess = {
  approver: ApproverSetShape,
  max_seconds: Type.Integer({
    minimum: AGENT_ACCESS_SECONDS_MIN,
    maximum: AGENT_ACCESS_SECONDS_MAX,
  }),
};
const plain = {
  auth_methods: Type.Array(
    named(
      'AuthMethod',
      Type.Enum(['password', 'passkeys', 'magic_link', 'otp', ...SOCIAL_PROVIDERS]),
    ),
    { minItems: 1, uniqueItems: true },
  ),
  mfa_policy: named('MfaPolicy', Type.Enum(['disabled', 'optional', 'required'])),
  email_verification_required: Type.Boolean(),
  /** Roles in addition to the built-in ones, whose names they may not use. They rank with `member`. */
  roles: Type.Array(Type.String({ pattern: '^[a-z][a-z0-9_-]{0,63}$', examples: ['billing'] }), {
    maxItems: ROLES_MAX,
    uniqueItems: true,
  }),
  /** The pages that mailed links open. They must be https, or http at a loopback address in development. */
  app_url: nullable(
    Type.String({ maxLength: URL_CHARACTERS_MAX, examples: ['https://example.com'] }),
  ),
  /** The language of mails and pages for readers who request no supported language. */
  language: named('Language', Type.Enum([...LANGUAGES])),
  /**
   * Pages at which a sign-in by a provider may end, compared byte by byte. They must be https, or http at a loopback
   * address in development.
   */
  allowed_redirect_uris: Type.Array(
    Type.String({ maxLength: URL_CHARACTERS_MAX, examples: ['https://example.com/signed-in'] }),
    { maxItems: REDIRECT_URIS_MAX, uniqueItems: true },
  ),
  approval_channels: Type.Array(
    named('ApprovalChannel', Type.Enum(['email', 'webhook', 'chat', 'push'])),
    { uniqueItems: true },
  ),
};

/** The response has no patterns: values were checked when they were set, and older events may have others. */
export const settingsFields = {
  auth_methods: Type.Array(Type.String()),
  mfa_policy: plain.mfa_policy,
  email_verification_required: Type.Boolean(),
  roles: Type.Array(Type.String()),
  app_url: Type.Union([Type.String(), Type.Null()]),
  language: plain.language,
  allowed_redirect_uris: Type.Array(Type.String()),
  approval_channels: Type.Array(Type.String()),
  password_policy: named('PasswordPolicy', closed(passwordPolicy)),
  registration: named('RegistrationSettings', closed(registration)),
  session: named('SessionSettings', closed(session)),
  refresh: named('RefreshSettings', closed(refresh)),
  otp: named('OtpSettings', closed(otp)),
  oauth: named('OAuthSettings', closed(oauth)),
  webauthn: named('WebauthnSettings', closed(webauthn)),
  social: SocialShape,
  email: named('EmailSettings', closed(email)),
  branding: named('Branding', closed(branding)),
  account_deletion: named('AccountDeletion', closed(accountDeletion)),
  agent_access: nullable(named('AgentAccess', closed(agentAccess))),
};

const change = <Fields extends Parameters<typeof closed>[0]>(name: string, fields: Fields) =>
  Type.Optional(named(name, Type.Partial(closed(fields))));

export const brandingChange = change('BrandingChange', branding);

/** Settings that are missing stay unchanged. */
export const SettingsChange = named(
  'TenantSettingsChange',
  Type.Object(
    {
      auth_methods: Type.Optional(plain.auth_methods),
      mfa_policy: Type.Optional(plain.mfa_policy),
      email_verification_required: Type.Optional(plain.email_verification_required),
      roles: Type.Optional(plain.roles),
      app_url: Type.Optional(plain.app_url),
      language: Type.Optional(plain.language),
      allowed_redirect_uris: Type.Optional(plain.allowed_redirect_uris),
      approval_channels: Type.Optional(plain.approval_channels),
      password_policy: change('PasswordPolicyChange', passwordPolicy),
      registration: change('RegistrationSettingsChange', registration),
      session: change('SessionSettingsChange', session),
      refresh: change('RefreshSettingsChange', refresh),
      otp: change('OtpSettingsChange', otp),
      oauth: change('OAuthSettingsChange', oauth),
      webauthn: change('WebauthnSettingsChange', webauthn),
      social: Type.Optional(SocialChange),
      email: change('EmailSettingsChange', email),
      branding: brandingChange,
      account_deletion: change('AccountDeletionChange', accountDeletion),
      agent_access: Type.Optional(
        nullable(named('AgentAccessChange', Type.Partial(closed(agentAccess)))),
      ),
    },
    { additionalProperties: false, minProperties: 1 },
  ),
);

export const shownSettings = ({
  settings,
  secrets,
}: Pick<TenantFacts, 'settings' | 'secrets'>) => ({
  ...settings,
  social: shownSocial(settings.social, secrets),
  allowed_redirect_uris: [...settings.allowed_redirect_uris],
  auth_methods: [...settings.auth_methods],
  roles: [...settings.roles],
  approval_channels: [...settings.approval_channels],
  webauthn: { rp_id: settings.webauthn.rp_id, origins: [...settings.webauthn.origins] },
});

/**
 * The settings that a client needs to show users their account. The others concern the tenant's operation and are only
 * for administrators.
 */
const CLIENT_SETTINGS = [
  'auth_methods',
  'branding',
  'email_verification_required',
  'language',
  'mfa_policy',
  'otp',
  'password_policy',
  'webauthn',
] as const satisfies readonly (keyof TenantFacts['settings'])[];

export const clientSettings = (
  settings: TenantFacts['settings'],
): Pick<TenantFacts['settings'], (typeof CLIENT_SETTINGS)[number]> =>
  pick(settings, CLIENT_SETTINGS);

const pick = <Value extends object, Name extends keyof Value>(
  value: Value,
  names: readonly Name[],
): Pick<Value, Name> =>
  Object.fromEntries(names.map((name) => [name, value[name]])) as Pick<Value, Name>;

/** Returns only what is set, for people who have not signed in. */
export const shownBranding = (branding: Branding): { [name: string]: string } =>
  Object.fromEntries(
    Object.entries(branding).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
  );
