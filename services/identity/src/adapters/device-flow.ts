/**
 * Configures the device flow (RFC 8628) of the authorization server's library. It adds what the library lacks: limits
 * on polling, and codes that people type with spaces, dashes or other digits.
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
/** The shortest interval between polls. It is shorter than 5 s, because transit times vary. */
const POLL_EARLY_SECONDS = 4.5;

const DEVICE_PATH = '/oauth2/device';
const TOKEN_PATH = '/oauth2/token';
const DEVICE_AUTHORIZATION_PATH = '/oauth2/device_authorization';
export const DEVICE_ROUTES = {
  device_authorization: DEVICE_AUTHORIZATION_PATH,
  code_verification: DEVICE_PATH,
};
const USER_ROUTES: readonly string[] = ['code_verification', 'device_resume'];

/** Whether a person decides about a device in this request. */
export const isAboutDevice = ({ oidc }: Ctx): boolean => USER_ROUTES.includes(oidc.route);

type Shown = { readonly name?: string; readonly userCode?: string };

/** The page callbacks of the library. Its own forms are ignored. */
export const deviceFlow = ({ devicePages }: Pick<Ports, 'devicePages'>) => ({
  enabled: true,
  // The 20 letters without vowels, so that no code is a word.
  charset: 'base-20' as const,
  mask: '****-****',
  deviceInfo: () => ({}),
  userCodeInputSource: (ctx: Ctx, _form: string, out: object | undefined, error?: Shown) => {
    if (error !== undefined && ctx.status === 200 && error.name !== 'AbortedError') {
      ctx.status = 400;
    }
    const isLost = out !== undefined && forgetUnsavedSession(ctx);
    if (out !== undefined && !devicePages.isWanted(ctx)) {
      // The library's errors about a user code have a sentence instead of the protocol's error code, so the code is set
      // here.
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
 * Returns true if the browser has lost its cookie, so no session can store a new secret. The library would fail when it
 * stores the secret. The page that the browser is redirected to starts a new session.
 */
function forgetUnsavedSession({ oidc }: Ctx): boolean {
  const session = oidc.session as { exp?: number; touched?: boolean; new?: boolean } | undefined;
  if (session === undefined || session.exp !== undefined) return false;
  session.touched = false;
  return true;
}

const secretOf = ({ oidc }: Ctx): string =>
  (oidc.session?.state as { readonly secret?: string } | undefined)?.secret ?? '';

/** The code in the form that a device shows: two groups. */
export const printed = (userCode: string): string =>
  `${userCode.slice(0, userCode.length / 2)}-${userCode.slice(userCode.length / 2)}`;

/** Reads typed user codes as leniently as all typed codes. Wrong ones are counted by address. */
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

/** Throws if a device polls too early. A client that does not own the code cannot slow the device down. */
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
 * A device may request scopes by name, but not the scope for the whole account. Its code may have reached the person
 * through any channel, so nobody knows who sent it.
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
