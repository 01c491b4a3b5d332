/** The settings that an owner asks for, where a schema cannot say what is allowed. */
import { badField } from '../../../http/answers.ts';
import type { Environment, TenantSettingsChange } from '../tenant.ts';

const BUILT_IN: readonly string[] = ['member', 'admin', 'owner', 'system_admin'];
const LOOPBACK: readonly string[] = ['127.0.0.1', '[::1]', 'localhost'];

export function readSettings(
  change: TenantSettingsChange,
  env: Environment,
): { readonly settings: TenantSettingsChange } | ReturnType<typeof badField> {
  if (change.roles?.some((role) => BUILT_IN.includes(role))) {
    return badField('settings.roles', 'built-in');
  }
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

/** Without a slash at its end, as paths are put behind it. Secrets are mailed with it, so it is encrypted. */
function pageUrl(text: string, env: Environment): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const isLocal =
    env === 'development' && url.protocol === 'http:' && LOOPBACK.includes(url.hostname);
  if (url.protocol !== 'https:' && !isLocal) return undefined;
  if (url.username !== '' || url.password !== '' || url.hash !== '' || /\s/.test(text))
    return undefined;
  return text.replace(/\/+$/, '');
}
