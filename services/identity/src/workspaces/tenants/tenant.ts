/** A tenant isolates one customer's data from all others'. Its settings say how its users may sign in. */
import { AGENT_ACCESS_SECONDS_DEFAULT, type ApproverSet } from '@cardea/contracts';
import type { Sealed } from '@cardea/crypto';
import type { Stream } from '@cardea/event-store';
import { DEFAULT_LANGUAGE, type Language } from '@cardea/mail';
import type { Environment } from './environment.ts';
import type { SocialSettings, TenantSecrets } from './social-settings.ts';

/**
 * The handling of a refresh token that the client used a moment ago. `leeway`: the token is refused and the family
 * stays alive. `strict`: the family ends. `idempotent`: the response is sent again.
 */
export type RefreshMode = 'leeway' | 'strict' | 'idempotent';

export type PasswordPolicy = {
  /** The minimum number of code points. */
  readonly min: number;
  /** Whether one of the 10,000 most common passwords may be chosen. */
  readonly common: 'allow' | 'refuse';
  /** The minimum zxcvbn score from 1 to 4. Null disables the estimate. */
  readonly zxcvbn_score: number | null;
  /** Whether passwords from known leaks are refused. */
  readonly breach_check: boolean;
  /** How many of the last passwords, including the current one, may not be set again. */
  readonly history: number;
};

/** The format of sign-in codes: eight characters that identify their mailbox, or six digits, which do not. */
export type OtpFormat = 'base32' | 'digits6';

/**
 * Who may create an account: anybody; people whom an administrator invited or created; only people whom an
 * administrator created.
 */
export const REGISTRATION_MODES = ['open', 'invited', 'closed'] as const;
export type RegistrationSettings = {
  readonly mode: (typeof REGISTRATION_MODES)[number];
  /** Null means uniform if and only if verification is required. */
  readonly uniform_response: boolean | null;
};

/** The tenant's appearance on hosted pages, in mails and in clients. Null fields are not shown. */
export type Branding = {
  readonly logo_url: string | null;
  readonly icon_url: string | null;
  readonly primary_color: string | null;
  readonly background_color: string | null;
  readonly support_email: string | null;
  readonly terms_url: string | null;
  readonly privacy_url: string | null;
};

type WithFields =
  | 'password_policy'
  | 'registration'
  | 'session'
  | 'refresh'
  | 'otp'
  | 'oauth'
  | 'webauthn'
  | 'social'
  | 'email'
  | 'branding'
  | 'account_deletion';
/**
 * A change of settings. Missing fields stay unchanged, inside these objects too, because older events may lack newer
 * fields.
 */
export type TenantSettingsChange = Partial<Omit<TenantSettings, WithFields | 'agent_access'>> & {
  readonly [Name in WithFields]?: Partial<TenantSettings[Name]>;
} & { readonly agent_access?: Partial<AgentAccess> | null };

/** The set to which agents send requests for access, and the longest time for which they can get it. */
type AgentAccess = { readonly approver: ApproverSet; readonly max_seconds: number };

/** A stream contains only the settings that were set. The others are {@link TENANT_DEFAULTS}. */
export type TenantSettings = {
  readonly auth_methods: readonly string[];
  readonly mfa_policy: 'disabled' | 'optional' | 'required';
  readonly email_verification_required: boolean;
  /** Slugs of roles in addition to the built-in ones. */
  readonly roles: readonly string[];
  readonly password_policy: PasswordPolicy;
  readonly app_url: string | null;
  /** The language of mails and pages for readers who request no supported language. */
  readonly language: Language;
  /** Seconds: the time after which every session ends, and the lifetime of a browser sign-in. */
  readonly session: { readonly absolute_ttl: number; readonly browser_ttl_seconds: number };
  readonly refresh: { readonly mode: RefreshMode; readonly leeway_seconds: number };
  readonly otp: { readonly format: OtpFormat };
  readonly registration: RegistrationSettings;
  /** Whether clients may describe themselves by a document. Null means in development only. */
  readonly oauth: { readonly cimd_enabled: boolean | null };
  /** Passkeys: their domain, and the pages that may use them. Null or empty means those of `app_url`. */
  readonly webauthn: { readonly rp_id: string | null; readonly origins: readonly string[] };
  readonly social: SocialSettings;
  /** Pages to which a browser may be redirected after a sign-in by a provider, compared byte by byte. */
  readonly allowed_redirect_uris: readonly string[];
  /** The sender name and reply address of mail to its users. Null means the deployment's. */
  readonly email: { readonly from_name: string | null; readonly reply_to: string | null };
  readonly approval_channels: readonly string[];
  readonly branding: Branding;
  /** Whether people may delete their own account, and how many days they can cancel that. */
  readonly account_deletion: { readonly allowed: boolean; readonly wait_days: number };
  /** Null if agents may not request access. */
  readonly agent_access: AgentAccess | null;
};

const AGENT_ACCESS_DEFAULT: AgentAccess = {
  approver: { role: 'admin' },
  max_seconds: AGENT_ACCESS_SECONDS_DEFAULT,
};

export const TENANT_DEFAULTS: TenantSettings = {
  auth_methods: ['password', 'passkeys', 'magic_link', 'otp'],
  mfa_policy: 'optional',
  email_verification_required: false,
  roles: [],
  password_policy: { min: 8, common: 'allow', zxcvbn_score: null, breach_check: false, history: 0 },
  app_url: null,
  language: DEFAULT_LANGUAGE,
  session: { absolute_ttl: 30 * 24 * 3600, browser_ttl_seconds: 12 * 3600 },
  refresh: { mode: 'leeway', leeway_seconds: 10 },
  otp: { format: 'base32' },
  registration: { mode: 'open', uniform_response: null },
  oauth: { cimd_enabled: null },
  webauthn: { rp_id: null, origins: [] },
  social: { google: null, github: null, microsoft: null },
  allowed_redirect_uris: [],
  email: { from_name: null, reply_to: null },
  approval_channels: ['email', 'webhook', 'chat', 'push'],
  branding: {
    logo_url: null,
    icon_url: null,
    primary_color: null,
    background_color: null,
    support_email: null,
    terms_url: null,
    privacy_url: null,
  },
  account_deletion: { allowed: true, wait_days: 14 },
  agent_access: AGENT_ACCESS_DEFAULT,
};

export type TenantFacts = {
  readonly id: string;
  readonly organizationId: string;
  /** The tenant under which the organization's own events are recorded. */
  readonly homeTenantId: string;
  readonly name: string;
  readonly slug: string;
  readonly displayName: string;
  readonly environment: Environment;
  readonly createdAt: string;
  readonly settings: TenantSettings;
  readonly secrets: TenantSecrets;
  readonly requestHash: string | null;
};
export type Tenant =
  | { readonly status: 'none' }
  | ({ readonly status: 'active' | 'deleted' } & TenantFacts)
  /** Nobody can sign in any more. The tenant's data is deleted at that time. */
  | ({ readonly status: 'closed'; readonly shredAt: string } & TenantFacts);
/** The tenant cannot be used from now on, and is deleted later. */
export type TenantClosed = Extract<TenantEvent, { type: 'TenantClosed' }>;
export type TenantDeleted = Extract<TenantEvent, { type: 'TenantDeleted' }>;

export type TenantEvent =
  | {
      readonly type: 'TenantCreated';
      readonly concerns?: 'relay' | 'workspaces';
      readonly data: {
        readonly id: string;
        readonly organization_id: string;
        readonly home_tenant_id: string;
        readonly name: string;
        readonly slug: string;
        readonly display_name: string;
        readonly environment: Environment;
        readonly created_at: string;
        /** A hash of the creating request, to recognize a repeat under the same Idempotency-Key. */
        readonly request_hash?: string | null;
      };
    }
  | {
      readonly type: 'TenantChanged';
      readonly concerns?: 'relay' | 'workspaces';
      readonly data: {
        readonly id: string;
        readonly name?: string;
        readonly display_name?: string;
        readonly environment?: Environment;
      };
    }
  | {
      readonly type: 'TenantSettingsChanged';
      readonly concerns?: 'relay';
      readonly data: { readonly id: string; readonly settings: TenantSettingsChange };
    }
  | {
      readonly type: 'TenantSecretSet';
      readonly concerns?: 'relay';
      readonly data: {
        readonly id: string;
        /** The name of the setting that the secret belongs to. */
        readonly name: string;
        /** Null removes the secret. */
        readonly value: Sealed | null;
      };
    }
  | {
      readonly type: 'TenantClosed';
      readonly concerns?:
        | 'relay'
        | 'revocation_rules'
        | 'revocations'
        | 'tell_changed_origins'
        | 'workspaces';
      readonly data: {
        readonly id: string;
        readonly closed_at: string;
        readonly shred_at: string;
      };
    }
  | {
      readonly type: 'TenantDeleted';
      readonly data: { readonly id: string; readonly deleted_at: string };
    };

export const tenants: Stream<Tenant, TenantEvent> = {
  noun: 'tenant',
  initial: { status: 'none' },
  evolve: (before, { type, data }) => {
    if (type === 'TenantCreated') {
      return {
        status: 'active',
        id: data.id,
        organizationId: data.organization_id,
        homeTenantId: data.home_tenant_id,
        name: data.name,
        slug: data.slug,
        displayName: data.display_name,
        environment: data.environment,
        createdAt: data.created_at,
        settings: TENANT_DEFAULTS,
        secrets: {},
        requestHash: data.request_hash ?? null,
      };
    }
    if (before.status === 'none') return before;
    switch (type) {
      case 'TenantChanged':
        return {
          ...before,
          name: data.name ?? before.name,
          displayName: data.display_name ?? before.displayName,
          environment: data.environment ?? before.environment,
        };
      case 'TenantSettingsChanged':
        return { ...before, settings: changedSettings(before.settings, data.settings) };
      case 'TenantSecretSet': {
        const { [data.name]: _before, ...others } = before.secrets;
        const secrets = data.value === null ? others : { ...others, [data.name]: data.value };
        return { ...before, secrets };
      }
      case 'TenantClosed':
        return { ...before, status: 'closed', shredAt: data.shred_at };
      case 'TenantDeleted':
        return { ...before, status: 'deleted' };
    }
  },
};

const changedSettings = (
  before: TenantSettings,
  {
    password_policy,
    registration,
    session,
    refresh,
    otp,
    oauth,
    webauthn,
    social,
    email,
    branding,
    account_deletion,
    agent_access,
    ...plain
  }: TenantSettingsChange,
): TenantSettings => ({
  ...before,
  ...plain,
  password_policy: { ...before.password_policy, ...password_policy },
  registration: { ...before.registration, ...registration },
  session: { ...before.session, ...session },
  refresh: { ...before.refresh, ...refresh },
  otp: { ...before.otp, ...otp },
  oauth: { ...before.oauth, ...oauth },
  webauthn: { ...before.webauthn, ...webauthn },
  social: { ...before.social, ...social },
  email: { ...before.email, ...email },
  branding: { ...before.branding, ...branding },
  account_deletion: { ...before.account_deletion, ...account_deletion },
  agent_access: changedAccess(before.agent_access, agent_access),
});

/** If the setting was off, keys that the change omits get their defaults. */
function changedAccess(
  before: AgentAccess | null,
  change: Partial<AgentAccess> | null | undefined,
): AgentAccess | null {
  if (change === undefined || change === null) return change === null ? null : before;
  return { ...(before ?? AGENT_ACCESS_DEFAULT), ...change };
}

/** Whether registering gets the same response for a new and a taken address. */
export const isUniform = (settings: TenantSettings): boolean =>
  settings.registration.uniform_response ?? settings.email_verification_required;
