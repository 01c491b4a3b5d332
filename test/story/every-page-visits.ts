/** The addresses at which a browser visits each page of the catalogue, and the visitors. */
import type { Page } from 'playwright-core';
import type { LaterWorld } from './every-page-world.ts';

export type Visit = {
  readonly who: 'ann' | 'bob' | 'nobody';
  readonly at: string;
  readonly status?: number;
  /** What the person does before the page is looked at. */
  readonly first?: (page: Page) => Promise<unknown>;
};

const APPROVE = 'section[aria-labelledby=approve] button';

const ann = (...paths: readonly string[]): readonly Visit[] =>
  paths.map((at) => ({ who: 'ann', at }));
const bob = (...paths: readonly string[]): readonly Visit[] =>
  paths.map((at) => ({ who: 'bob', at }));
const nobody = (at: string, more: Partial<Visit> = {}): Visit => ({ who: 'nobody', at, ...more });
/** At these pages Ann has something to see, and Bob has nothing. */
const both = (path: string): readonly Visit[] => [...ann(path), ...bob(path)];
const form = (path: string, name: string, params: { readonly [name: string]: string } = {}) => {
  const search = new URLSearchParams({ form: name });
  for (const [param, value] of Object.entries(params)) search.set(`param.${param}`, value);
  return `${path}?${search}`;
};
const forms = (path: string, ...names: readonly string[]): readonly Visit[] =>
  ann(...names.map((name) => form(path, name)));

export const visitsOf = (world: LaterWorld): { readonly [path: string]: readonly Visit[] } => ({
  '/account': both('/account'),
  '/account/profile': both('/account/profile'),
  '/account/email': [...both('/account/email'), ...forms('/account/email', 'change')],
  '/account/security': [
    ...both('/account/security'),
    ...forms('/account/security', 'password', 'add_passkey', 'enrol_totp', 'renew_codes'),
  ],
  '/account/sessions': [...both('/account/sessions'), ...forms('/account/sessions', 'end_others')],
  '/account/applications': [
    ...both('/account/applications'),
    ...ann(form('/account/applications', 'revoke', { id: world.consent })),
  ],
  '/account/agents': [
    ...both('/account/agents'),
    ...ann('/account/agents?status=ended'),
    ...ann(form('/account/agents', 'withdraw', { id: world.delegation })),
    ...forms('/account/agents', 'end_all'),
  ],
  '/account/channels': [
    ...both('/account/channels'),
    ...forms('/account/channels', 'create'),
    ...ann(
      form('/account/channels', 'change', { id: world.channel }),
      form('/account/channels', 'remove', { id: world.channel }),
    ),
  ],
  '/account/deputy': [
    ...both('/account/deputy'),
    ...forms('/account/deputy', 'set', 'remove'),
    {
      who: 'ann',
      at: form('/account/deputy', 'set'),
      first: async (page) => {
        await page.fill('[name=user_id]', 'nobody-has-this-id');
        await page.click('main form button.main');
        await page.waitForSelector('#alert');
      },
    },
  ],
  '/account/grants': [
    // The name of the agent comes from the page of agents, which is a page of another service.
    {
      who: 'ann',
      at: '/account/grants',
      first: (page) => page.waitForSelector('td:has-text("Deploy Bot ")'),
    },
    ...bob('/account/grants'),
  ],
  '/account/activity': both('/account/activity'),
  '/account/decisions': both('/account/decisions'),
  '/account/data': [...both('/account/data'), ...forms('/account/data', 'delete')],
  '/approve': both('/approve'),
  '/approve/{id}': [
    ...ann(...Object.values(world.requests).map((id) => `/approve/${id}`)),
    {
      who: 'ann',
      at: `/approve/${world.requests.secret}`,
      // An approval without the number is refused, and uses up none of the tries.
      first: async (page) => {
        await page.click(APPROVE);
        await page.waitForSelector('#alert');
      },
    },
    { who: 'bob', at: `/approve/${world.requests.secret}`, status: 404 },
  ],
  '/account/sign-in': [
    nobody(`/account/sign-in?in=${world.tenant}`),
    nobody('/account/sign-in?in=no-such-organization'),
  ],
  '/account/callback': [nobody('/account/callback?state=none', { status: 400 })],
  '/api/v1/auth/email-change/verify': [nobody(world.links.change)],
  '/api/v1/auth/email-change/stop': [nobody(world.links.change.replace('/verify', '/stop'))],
  '/api/v1/auth/invitations/accept': [nobody(world.links.invitation)],
  '/api/v1/auth/magic-link/verify': [nobody(world.links.magic)],
  '/api/v1/auth/reset-password': [nobody(world.links.reset)],
  '/oauth2/device': bob('/oauth2/device'),
  '/oauth2/session/end': bob('/oauth2/session/end'),
});

/** Pages of the catalogue that are not visited here, each with the reason. */
export const NOT_VISITED: { readonly [path: string]: string } = {
  '/oauth2/authorize': 'redirects; its pages are those of /account/sign-in',
  '/oauth2/authorize/{uid}': 'redirects',
  '/oauth2/device/{uid}': 'redirects',
  '/oauth2/interaction/{uid}/link':
    'needs a flow of its own: services/identity/test/hosted-mailed.int.test.ts sees it at two sizes',
  '/oauth2/interaction/{uid}/verify-email':
    'needs a flow of its own: services/identity/test/hosted-registered.int.test.ts sees it at two sizes',
};
