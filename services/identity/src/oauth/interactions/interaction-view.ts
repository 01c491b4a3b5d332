/** The data of an interaction that its page and its JSON show. */
import { DEFAULT_LANGUAGE } from '@cardea/mail';
import type { Settings } from '@cardea/runtime';
import {
  emailAddress,
  exists,
  type ToAscii,
  type UserDirectory,
} from '../../accounts/accounts.module.ts';
import { hasHostedPasskeys } from '../../factors/factors.module.ts';
import {
  SOCIAL_PROVIDERS,
  socialClient,
  type TenantFacts,
  type Workspaces,
} from '../../workspaces/workspaces.module.ts';
import { isDocumentId } from '../client-documents/client-document.ts';
import {
  BUILT_IN_SCOPES,
  isBuiltInScope,
  type KnownResources,
} from '../resource-servers/known-resources.ts';
import type { Interaction } from './interaction.ts';

export type ViewDependencies = {
  readonly resources: Pick<KnownResources, 'find'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'emailOf'>;
  readonly settings: Pick<Settings, 'ISSUER' | 'PUBLIC_URL'>;
  readonly toAscii: ToAscii;
};

type ShownScope = { readonly name: string; readonly description: string; readonly new: boolean };

type Prompt = 'login' | 'create' | 'mfa' | 'select_account' | 'consent';

/** The kind of decision that a page asks for. */
export const promptOf = (
  { progress, stored }: Interaction,
  tenant: TenantFacts | undefined = undefined,
): Prompt => {
  const { name } = stored.prompt;
  if (progress.step === 'second_factor') return 'mfa';
  if (progress.step === 'registered') return 'create';
  if (progress.step === 'registering' || (progress.step === 'begun' && name === 'create')) {
    return registrationOf(tenant) === undefined ? 'login' : 'create';
  }
  if (progress.step !== 'begun' || name === 'login') return 'login';
  return name === 'select_account' ? 'select_account' : 'consent';
};

/** Undefined if people cannot register themselves at this tenant. */
const registrationOf = (tenant: TenantFacts | undefined) =>
  tenant?.settings.registration.mode === 'open'
    ? { password_min: tenant.settings.password_policy.min }
    : undefined;

export async function interactionView(needs: ViewDependencies, interaction: Interaction) {
  const { stored, client, resource, progress, userCode } = interaction;
  const { tenantId, application } = client;
  const tenant = await needs.workspaces.tenant(tenantId);
  const prompt = promptOf(interaction, tenant);
  const registration = registrationOf(tenant);
  // A hint that is not an e-mail address cannot name an account, so it is dropped.
  const hint = emailAddress(String(stored.params['login_hint'] ?? ''), needs.toAscii);
  const isSignedIn = prompt === 'consent' || prompt === 'select_account';
  const email = isSignedIn ? await emailOf(needs, interaction) : undefined;
  const isEnrolment = progress.step === 'second_factor' && progress.isEnrolment;
  return {
    uid: stored.uid,
    prompt,
    client: {
      name: application.name,
      host: hostOf(interaction),
      first_party: application.first_party,
      // The host is the only name that a self-described client cannot invent.
      ...(isDocumentId(application.id) ? { id_host: new URL(application.id).host } : {}),
    },
    scopes: await scopesOf(needs, interaction),
    claims: interaction.claims.map(({ name, from, scope }) => ({ name, from, scope })),
    resource,
    ...(userCode === undefined ? {} : { device: { user_code: userCode } }),
    ...(hint === undefined ? {} : { login_hint: hint }),
    methods: progress.step === 'second_factor' ? [...progress.methods] : waysOf(tenant, needs),
    ...(isContinuation(interaction) ? { continuation: true as const } : {}),
    ...(isEnrolment ? { mfa_enrollment_required: true } : {}),
    ...(progress.step === 'mailed' ? { mailed: METHODS[progress.method] } : {}),
    ...(progress.step === 'registered' ? { mailed: 'verification' as const } : {}),
    ...(registration === undefined ? {} : { registration }),
    ...(email === undefined ? {} : { account: { email } }),
    tenant: {
      display_name: tenant?.displayName ?? '',
      language: tenant?.settings.language ?? DEFAULT_LANGUAGE,
      branding: { ...tenant?.settings.branding, ...application.branding },
    },
  };
}
export type InteractionView = Awaited<ReturnType<typeof interactionView>>;

/** The tenant's own application needs no consent. The page only confirms where the response goes. */
const isContinuation = ({ stored, client }: Interaction): boolean =>
  client.application.first_party &&
  stored.prompt.name === 'consent' &&
  stored.prompt.reasons.every((reason) => reason === 'native_client_prompt');

/** The host that the browser is redirected to. Empty for a device flow, which has no redirect. */
function hostOf({ redirectUri }: Interaction): string {
  if (redirectUri === undefined) return '';
  const { host, protocol } = new URL(redirectUri);
  // A custom scheme of an application has no host after it.
  return protocol === 'https:' || protocol === 'http:' ? host : protocol;
}

async function emailOf(
  { userDirectory }: ViewDependencies,
  { stored, client }: Interaction,
): Promise<string | undefined> {
  const user = await userDirectory.byId(client.tenantId, stored.session?.accountId ?? '');
  return exists(user) ? ((await userDirectory.emailOf(user)) ?? undefined) : undefined;
}

async function scopesOf(
  { resources }: ViewDependencies,
  { client, resource, missing, stored, userCode }: Interaction,
): Promise<ShownScope[]> {
  const known = await resources.find(client.tenantId, resource);
  const descriptions = new Map(known?.scopes.map(({ name, description }) => [name, description]));
  const added = [...new Set(Object.values(missing).flat())];
  // A device always needs confirmation, even for scopes that the application already has.
  const wanted = userCode === undefined ? '' : String(stored.params['scope'] ?? '');
  const had = wanted.split(' ').filter((name) => name !== '' && !added.includes(name));
  return [...added, ...had].map((name) => ({
    name,
    description: isBuiltInScope(name) ? BUILT_IN_SCOPES[name] : (descriptions.get(name) ?? name),
    new: added.includes(name),
  }));
}

/** Maps a tenant's names of sign-in methods to the names in forms and JSON. */
const METHODS = {
  password: 'password',
  otp: 'email_otp',
  magic_link: 'magic_link',
  passkeys: 'passkey',
} as const;

/** The tenant's sign-in methods that can be used at this point. */
function waysOf(
  tenant: TenantFacts | undefined,
  { settings }: Pick<ViewDependencies, 'settings'>,
): string[] {
  if (tenant === undefined) return [];
  const allowed = tenant.settings.auth_methods;
  const own = (['password', 'passkeys', 'otp', 'magic_link'] as const)
    .filter((way) => allowed.includes(way))
    .filter((way) => way !== 'passkeys' || hasHostedPasskeys(tenant, settings));
  const social = SOCIAL_PROVIDERS.filter(
    (provider) => allowed.includes(provider) && socialClient(tenant, provider) !== undefined,
  );
  return [...own.map((way) => METHODS[way]), ...social];
}
