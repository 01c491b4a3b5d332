/**
 * The device flow (RFC 8628) in the authorization server's library, which knows neither how often a device may
 * poll nor how people type.
 */
import { typedCode } from '@cardea/crypto';
import { errors, Provider } from 'oidc-provider';
import { TooManyRequests } from './artifact-bounds.ts';
import type { ArtifactCache } from './artifact-cache.ts';
import type { Ctx, Ports } from './authorization-ports.ts';
import { stored } from './cache-errors.ts';

export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
export const DEVICE_CODE_SECONDS = 600;
export const POLL_INTERVAL_SECONDS = 5;
/** A poll that took less time on its way than the one before is not early. */
const POLL_EARLY_SECONDS = 4.5;

const DEVICE_PATH = '/oauth2/device';
const TOKEN_PATH = '/oauth2/token';
const DEVICE_AUTHORIZATION_PATH = '/oauth2/device_authorization';
export const DEVICE_ROUTES = {
  device_authorization: DEVICE_AUTHORIZATION_PATH,
  code_verification: DEVICE_PATH,
};
const USER_ROUTES: readonly string[] = ['code_verification', 'device_resume'];

/** Whether somebody decides here about a device. */
export const isAboutDevice = ({ oidc }: Ctx): boolean => USER_ROUTES.includes(oidc.route);

type Shown = { readonly name?: string; readonly userCode?: string };

/** What the library draws pages with. Its own forms are left aside. */
export const deviceFlow = ({ devicePages }: Pick<Ports, 'devicePages'>) => ({
  enabled: true,
  // 20 letters without vowels, so that no code is a word.
  charset: 'base-20' as const,
  mask: '****-****',
  deviceInfo: () => ({}),
  userCodeInputSource: (ctx: Ctx, _form: string, out: object | undefined, error?: Shown) => {
    if (error !== undefined && ctx.status === 200 && error.name !== 'AbortedError') {
      ctx.status = 400;
    }
    const isLost = out !== undefined && forgetUnsavedSession(ctx);
    if (out !== undefined && !devicePages.isWanted(ctx)) {
      // The library's errors of a code have a sentence in place of the protocol's word.
      ctx.body = error?.name?.endsWith('Error') ? { error: 'invalid_request' } : out;
      return;
    }
    if (isLost) return ctx.redirect(DEVICE_PATH);
    const fault = out === undefined ? undefined : (error?.name ?? 'other');
    devicePages.input(ctx, { secret: secretOf(ctx), fault, typed: error?.userCode });
  },
  userCodeConfirmSource: (ctx: Ctx) => {
    const secret = secretOf(ctx);
    const { userCode = '', params = {} } = (ctx.oidc.deviceCode ?? {}) as {
      readonly userCode?: string;
      readonly params?: { readonly [name: string]: unknown };
    };
    return devicePages.confirm(ctx, { secret, userCode: printed(userCode), params });
  },
  successSource: (ctx: Ctx) => devicePages.done(ctx),
});

/**
 * A browser that has lost its cookie has no session that a new secret could be stored in. The library would fail
 * when it stores that; the page that the browser is sent to begins one.
 */
function forgetUnsavedSession({ oidc }: Ctx): boolean {
  const session = oidc.session as { exp?: number; touched?: boolean; new?: boolean } | undefined;
  if (session === undefined || session.exp !== undefined) return false;
  session.touched = false;
  return true;
}

const secretOf = ({ oidc }: Ctx): string =>
  (oidc.session?.state as { readonly secret?: string } | undefined)?.secret ?? '';

/** As a device shows it: in two groups. */
export const printed = (userCode: string): string =>
  `${userCode.slice(0, userCode.length / 2)}-${userCode.slice(userCode.length / 2)}`;

/** What somebody has typed is read as all typed codes are; wrong ones are counted by address. */
export function readUserCodes(provider: Provider, ports: Pick<Ports, 'tryUserCode'>): void {
  const { DeviceCode } = provider;
  const find = DeviceCode.findByUserCode.bind(DeviceCode);
  DeviceCode.findByUserCode = async (_userCode, options) => {
    const ctx = Provider.ctx as Ctx;
    const typed = typedCode(String(ctx.oidc.params?.['user_code'] ?? ''))
      .toUpperCase()
      .replaceAll(/\W/g, '');
    const tried = await ports.tryUserCode(ctx.req, () => find(typed, options));
    if (tried === 'too_many') throw new TooManyRequests('too many wrong codes from this address');
    return tried;
  };
}

/** Throws where a device asks again too soon. A client that does not hold the code slows nobody down. */
export async function pacePolls(
  artifacts: Pick<ArtifactCache, 'use'>,
  id: string,
  { clientId }: { readonly clientId?: unknown },
): Promise<void> {
  const { ctx } = Provider;
  if (ctx?.path !== TOKEN_PATH || ctx.oidc.client?.clientId !== clientId) return;
  if (!(await stored(artifacts.use('DevicePoll', id, POLL_EARLY_SECONDS)))) {
    throw new errors.SlowDown();
  }
}

/**
 * A device asks for its scopes by name, and never for the whole account: its code reaches people by ways that
 * prove nothing about who sent it.
 */
export function checkDeviceScopes(params: { readonly scope?: unknown } | undefined): void {
  const scopes = typeof params?.scope === 'string' ? params.scope.split(' ') : [];
  if (scopes.length === 0) throw new errors.InvalidScope('scope is required', '');
  if (scopes.includes('account')) {
    throw new errors.InvalidScope('scope is not granted to devices', 'account');
  }
}

export function sayInterval(ctx: Ctx): void {
  if (ctx.path !== DEVICE_AUTHORIZATION_PATH || ctx.status !== 200) return;
  ctx.body = { ...(ctx.body as object), interval: POLL_INTERVAL_SECONDS };
}
