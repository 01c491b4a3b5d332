/** The pages at which a person decides about a device. */
import { type Html, wantsPage } from '@cardea/pages';
import { type Ctx, type DevicePages, tenantOf } from '../../adapters/authorization-ports.ts';
import { deviceCodePage, deviceConfirmPage, deviceDonePage } from '../../pages/device-pages.ts';
import { type Frame, frameOf, type TextKey } from '../../pages/frame.ts';
import type { Workspaces } from '../../workspaces/workspaces.module.ts';
import {
  BUILT_IN_SCOPES,
  isBuiltInScope,
  type KnownResources,
} from '../resource-servers/known-resources.ts';
import type { OAuthClients } from './clients.ts';

type Dependencies = {
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly clients: Pick<OAuthClients, 'find'>;
  readonly resources: Pick<KnownResources, 'builtIn' | 'find'>;
};

/** Maps the library's error names to our texts. */
const FAULTS: { readonly [name: string]: TextKey } = {
  NotFoundError: 'device.wrong',
  NoCodeError: 'device.wrong',
  ExpiredError: 'device.expired',
  AlreadyUsedError: 'device.used',
  AbortedError: 'device.denied',
  TooManyRequests: 'refused.rate_limited',
};

export function devicePages(needs: Dependencies): DevicePages {
  return {
    isWanted: (ctx) => wantsPage({ accept: ctx.get('accept') }),
    input: (ctx, { secret, fault, typed }) => {
      const key = fault === undefined ? undefined : (FAULTS[fault] ?? 'device.failed');
      show(ctx, deviceCodePage(frameOf(undefined, headersOf(ctx)), { secret, fault: key, typed }));
    },
    confirm: async (ctx, { secret, userCode, params }) => {
      const frame = await frameFor(needs, ctx);
      const scopes = await scopesOf(needs, ctx, { frame, params });
      const client = String(ctx.oidc.client?.clientName ?? '');
      show(ctx, deviceConfirmPage(frame, { secret, userCode, client, scopes }));
    },
    done: async (ctx) => show(ctx, deviceDonePage(await frameFor(needs, ctx))),
  };
}

function show(ctx: Ctx, { html, headers }: Html): void {
  for (const [name, value] of Object.entries(headers)) ctx.set(name, value);
  ctx.body = html;
}

const headersOf = (ctx: Ctx) => ({ 'accept-language': ctx.get('accept-language') });

async function frameFor({ workspaces, clients }: Dependencies, ctx: Ctx): Promise<Frame> {
  const { client } = ctx.oidc;
  const [tenant, registered] = await Promise.all([
    workspaces.tenant(tenantOf(client)),
    clients.find(client?.clientId ?? ''),
  ]);
  if (tenant === undefined) return frameOf(undefined, headersOf(ctx));
  const branding = { ...tenant.settings.branding, ...registered?.application.branding };
  return frameOf({ ...tenant, settings: { ...tenant.settings, branding } }, headersOf(ctx));
}

/** Scopes with their descriptions, if the resource has any. */
async function scopesOf(
  { resources }: Dependencies,
  ctx: Ctx,
  of: { readonly frame: Frame; readonly params: { readonly [name: string]: unknown } },
): Promise<readonly string[]> {
  const { scope, resource } = of.params;
  const identifier = typeof resource === 'string' ? resource : resources.builtIn;
  const known = await resources.find(tenantOf(ctx.oidc.client), identifier);
  const described = new Map(known?.scopes.map(({ name, description }) => [name, description]));
  return String(scope ?? '')
    .split(' ')
    .map((name) =>
      isBuiltInScope(name) && name in BUILT_IN_SCOPES
        ? of.frame.say(`scope.${name}`)
        : (described.get(name) ?? name),
    );
}
