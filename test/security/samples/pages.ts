/** Requests to the pages, by the browser of the member of tenant A. */
import { formToken, type PageCookie, pageCookies } from '@cardea/pages';
import type { Fortress } from '../fortress.ts';
import type { Sample, Samples } from '../sample.ts';
import { someRequest } from './approval.ts';

/**
 * The cookies of a browser after the sign-in of the pages. It is a separate sign-in, because other samples end those of
 * the member.
 */
async function browserOf({ a, host, settings, logIn, addUser }: Fortress) {
  // If an earlier story gave the member another password, another user opens the page.
  const person = await logIn(a.member).catch(() => addUser(a.owner, ['member']));
  const cookies = pageCookies(host.needsOf('approval').pageKeys, settings);
  const cookie: PageCookie = cookies.begun(person.access);
  const [pair = ''] = cookies.written(cookie).split(';');
  return { cookie, headers: { cookie: pair, origin: new URL(settings.PUBLIC_URL).origin } };
}

const accountPages = (...names: readonly string[]): Samples =>
  Object.fromEntries(
    names.map((name) => [
      `${name}_page`,
      {
        by: 'none',
        ask: async (world: Fortress) => ({ headers: (await browserOf(world)).headers }),
      } as const,
    ]),
  );

/** The endpoint that the page calls refuses this form, so it can be sent again. */
const accountForm = (
  path: string,
  body: { readonly form: string; readonly [field: string]: string },
  status = 400,
): Sample => ({
  by: 'none',
  ask: async (world) => {
    const { cookie, headers } = await browserOf(world);
    return { headers, body: { ...body, form_token: formToken(cookie, path) } };
  },
  status,
});

export const pageSamples: Samples = {
  begin_page_sign_in: {
    by: 'none',
    ask: ({ a }) => ({ query: { in: a.tenantId } }),
    status: 303,
  },
  // The request lacks the cookie of a sign-in that was begun.
  finish_page_sign_in: { by: 'none', ask: () => ({}), status: 400 },
  // The form comes from no page of ours.
  sign_out_of_pages: { by: 'none', ask: () => ({ body: { form_token: 'none' } }), status: 403 },
  ...accountPages(
    'account',
    'profile',
    'email',
    'security',
    'sessions',
    'applications',
    'agents',
    'data',
  ),
  profile_page_form: accountForm('/account/profile', {
    form: 'profile',
    avatar_url: 'none',
    'was.avatar_url': '',
  }),
  email_page_form: accountForm('/account/email', { form: 'change', email: 'none' }),
  data_page_form: accountForm('/account/data', { form: 'delete', confirmed_by: 'none' }),
  security_page_form: accountForm('/account/security', { form: 'password', new_password: 'x' }),
  sessions_page_form: accountForm('/account/sessions', { form: 'end', 'param.id': 'nobody' }, 404),
  applications_page_form: accountForm(
    '/account/applications',
    { form: 'revoke', 'param.id': 'nobody' },
    404,
  ),
  agents_page_form: accountForm('/account/agents', { form: 'end', 'param.id': 'nobody' }, 404),
  ...accountPages('grants', 'activity', 'decisions'),
  ...accountPages('channels'),
  channels_page_form: accountForm('/account/channels', { form: 'create', name: '' }),
  ...accountPages('deputy'),
  deputy_page_form: accountForm('/account/deputy', { form: 'set', until: 'x' }),
  waiting_page: {
    by: 'none',
    ask: async (world) => ({ headers: (await browserOf(world)).headers }),
  },
  decision_page: {
    by: 'none',
    ask: async (world) => ({
      params: await someRequest(world),
      headers: (await browserOf(world)).headers,
    }),
  },
  decision_page_form: {
    by: 'none',
    // The endpoint that the page calls refuses this form, so it can be sent again.
    ask: async (world) => {
      const params = await someRequest(world);
      const { cookie, headers } = await browserOf(world);
      const form_token = formToken(cookie, `/approve/${params.id}`);
      return { params, headers, body: { form: 'deny', form_token, mute_agent_minutes: 'x' } };
    },
    status: 400,
    // The token of a form is valid for one path only.
    unknown: 403,
  },
};
