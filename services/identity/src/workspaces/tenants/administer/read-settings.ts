/** Checks settings for rules that a schema cannot express. */
import { badField } from '../../../http/answers.ts';
import type { Environment } from '../environment.ts';
import { isPage, pageUrl } from '../page-url.ts';
import type { TenantSettingsChange } from '../tenant.ts';

const BUILT_IN: readonly string[] = ['member', 'admin', 'owner', 'system_admin'];

export function readSettings(
  change: TenantSettingsChange,
  env: Environment,
): { readonly settings: TenantSettingsChange } | ReturnType<typeof badField> {
  if (change.roles?.some((role) => BUILT_IN.includes(role))) {
    return badField('settings.roles', 'built-in');
  }
  const redirects = change.allowed_redirect_uris ?? [];
  if (!redirects.every((uri) => isPage(uri, env)))
    return badField('settings.allowed_redirect_uris');
  const { branding = {} } = change;
  for (const [name, value] of Object.entries(branding)) {
    const isUrl = name.endsWith('_url') && typeof value === 'string';
    if (isUrl && pageUrl(value, 'production') === undefined) {
      return badField(`settings.branding.${name}`);
    }
  }
  if (change.app_url === undefined || change.app_url === null) return { settings: change };
  const url = pageUrl(change.app_url, env);
  if (url === undefined) return badField('settings.app_url');
  return { settings: { ...change, app_url: url } };
}
