/** An interaction as its page and its JSON show it. */
import type { Settings } from '@cardea/runtime';
import { exists, type UserDirectory } from '../../accounts/accounts.module.ts';
import { hasHostedPasskeys } from '../../factors/factors.module.ts';
import { DEFAULT_LANGUAGE } from '../../pages/texts.ts';
import {
  SOCIAL_PROVIDERS,
  socialClient,
  type TenantFacts,
  type Workspaces,
} from '../../workspaces/workspaces.module.ts';
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
};

type ShownScope = { readonly name: string; readonly description: string; readonly new: boolean };

/** What a page asks for. */
export const promptOf = ({ progress, stored }: Interaction): 'login' | 'mfa' | 'consent' => {
  if (progress.step === 'second_factor') return 'mfa';
  if (progress.step !== 'begun' || stored.prompt.name === 'login') return 'login';
  return 'consent';
};

export async function interactionView(needs: ViewDependencies, interaction: Interaction) {
  const { stored, client, resource, redirectUri, progress } = interaction;
  const { tenantId, application } = client;
  const tenant = await needs.workspaces.tenant(tenantId);
  const prompt = promptOf(interaction);
  const hint = stored.params['login_hint'];
  const { host, protocol } = new URL(redirectUri);
  const email = prompt === 'consent' ? await emailOf(needs, interaction) : undefined;
  const isEnrolment = progress.step === 'second_factor' && progress.isEnrolment;
  return {
    uid: stored.uid,
    prompt,
    client: {
      name: application.name,
      host: host === '' ? protocol : host,
      first_party: application.first_party,
    },
    scopes: await scopesOf(needs, interaction),
    resource,
    ...(typeof hint === 'string' ? { login_hint: hint } : {}),
    methods: progress.step === 'second_factor' ? [...progress.methods] : waysOf(tenant, needs),
    ...(isEnrolment ? { mfa_enrollment_required: true } : {}),
    ...(progress.step === 'mailed' ? { mailed: METHODS[progress.method] } : {}),
    ...(email === undefined ? {} : { account: { email } }),
    tenant: {
      display_name: tenant?.displayName ?? '',
      language: tenant?.settings.language ?? DEFAULT_LANGUAGE,
      branding: { ...tenant?.settings.branding, ...application.branding },
    },
  };
}
export type InteractionView = Awaited<ReturnType<typeof interactionView>>;

async function emailOf(
  { userDirectory }: ViewDependencies,
  { stored, client }: Interaction,
): Promise<string | undefined> {
  const user = await userDirectory.byId(client.tenantId, stored.session?.accountId ?? '');
  return exists(user) ? ((await userDirectory.emailOf(user)) ?? undefined) : undefined;
}

async function scopesOf(
  { resources }: ViewDependencies,
  { client, resource, missing }: Interaction,
): Promise<ShownScope[]> {
  const known = await resources.find(client.tenantId, resource);
  const descriptions = new Map(known?.scopes.map(({ name, description }) => [name, description]));
  const names = [...new Set(Object.values(missing).flat())];
  return names.map((name) => ({
    name,
    description: isBuiltInScope(name) ? BUILT_IN_SCOPES[name] : (descriptions.get(name) ?? name),
    new: true,
  }));
}

/** As forms and JSON name the ways that a tenant calls by other names. */
const METHODS = {
  password: 'password',
  otp: 'email_otp',
  magic_link: 'magic_link',
  passkeys: 'passkey',
} as const;

/** The ways of the tenant that lead anywhere from here. */
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
