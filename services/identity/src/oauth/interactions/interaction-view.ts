/** An interaction as its page and its JSON show it. */
import type { Workspaces } from '../../workspaces/workspaces.module.ts';
import {
  BUILT_IN_SCOPES,
  isBuiltInScope,
  type KnownResources,
} from '../resource-servers/known-resources.ts';
import type { Interaction } from './interaction.ts';
import { consentForm, type Html, loginForm, page, secondFactorForm } from './page.ts';

type Dependencies = {
  readonly resources: Pick<KnownResources, 'find'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
};

type ShownScope = { readonly name: string; readonly description: string; readonly new: boolean };

export async function interactionView(
  { resources, workspaces }: Dependencies,
  { stored, client, resource, missing, redirectUri, secondFactor }: Interaction,
) {
  const { tenantId, application } = client;
  const [tenant, known] = await Promise.all([
    workspaces.tenant(tenantId),
    resources.find(tenantId, resource),
  ]);
  const descriptions = new Map(known?.scopes.map(({ name, description }) => [name, description]));
  const names = [...new Set(Object.values(missing).flat())];
  const scopes: ShownScope[] = names.map((name) => ({
    name,
    description: isBuiltInScope(name) ? BUILT_IN_SCOPES[name] : (descriptions.get(name) ?? name),
    new: true,
  }));
  const hint = stored.params['login_hint'];
  const { host, protocol } = new URL(redirectUri);
  return {
    uid: stored.uid,
    prompt: secondFactor === undefined ? stored.prompt.name : 'mfa',
    client: {
      name: application.name,
      host: host === '' ? protocol : host,
      first_party: application.first_party,
    },
    scopes,
    resource,
    ...(typeof hint === 'string' ? { login_hint: hint } : {}),
    methods: secondFactor === undefined ? ['password'] : [...secondFactor.methods],
    tenant: {
      display_name: tenant?.displayName ?? '',
      branding: { ...tenant?.settings.branding, ...application.branding },
    },
  };
}
export type InteractionView = Awaited<ReturnType<typeof interactionView>>;

const LOOPBACK = /^(127\.0\.0\.1|\[::1\]|localhost)(:|$)/;

export function interactionPage(
  view: InteractionView,
  { redirectUri }: Pick<Interaction, 'redirectUri'>,
  message?: string,
): Html {
  const path = `/oauth2/interaction/${view.uid}`;
  const at = { path, message };
  switch (view.prompt) {
    case 'mfa':
      return page('Second factor', secondFactorForm({ ...at, methods: view.methods }), redirectUri);
    case 'login':
      return page(
        `Sign in to ${view.tenant.display_name}`,
        loginForm({ ...at, hint: view.login_hint }),
        redirectUri,
      );
    default: {
      const { name: client, host, first_party } = view.client;
      const warning =
        LOOPBACK.test(host) && !first_party
          ? 'This leads to a program on your own device. Allow it only if you have just started one.'
          : undefined;
      const form = consentForm({ ...at, client, host, warning, scopes: view.scopes });
      return page('Allow access?', form, redirectUri);
    }
  }
}
