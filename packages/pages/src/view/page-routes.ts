/**
 * The two endpoints of a page. GET shows what another endpoint answers to the person who is signed in; POST to the
 * same path plays the endpoint of one of its forms. Neither decides anything itself.
 */
import type { ServerResponse } from 'node:http';
import {
  type Endpoint,
  type PlayedOutcome,
  type Plays,
  pageEndpoint,
  refusalOfThrow,
} from '@cardea/http';
import Type from 'typebox';
import { html } from '../markup.ts';
import {
  type Frame,
  frameOf,
  type Html,
  page,
  plainPage,
  type ShownTenant,
  send,
} from '../page.ts';
import { formToken, isFormToken, isOwnForm } from '../session/page-cookie.ts';
import { SIGN_OUT_PATH, signInAddress } from '../session/page-paths.ts';
import { type Visit, type VisitDependencies, visits } from '../session/visits.ts';
import type { Catalogue } from '../texts/texts.ts';
import { formBody, type Typed } from './form-body.ts';
import type { PageForm, PageOf, Shown } from './page-of.ts';

export type PageDependencies<Key extends string> = VisitDependencies & {
  readonly texts: Catalogue<Key>;
  /** Lets a form in; seconds until one may come again, where too many came from the address. */
  readonly admitForm: (ip: string) => Promise<number | undefined>;
  /** How the pages of a tenant look. */
  readonly tenant: (tenantId: string) => Promise<ShownTenant>;
};

const NAME_MAX_CHARS = 128;
const FORM_MAX_BYTES = 64 * 1024;
const AWAY = 503;
const STEP_UP = 'step_up_required';

/** What the contracts of all pages have in common. */
export const PAGE_CONTRACT = {
  tag: 'Pages',
  who: 'anyone',
  tenant: 'none',
  area: 'user',
  noStore: true,
  recordsItsRefusals: true,
  origins: 'own',
  ok: Type.String(),
  okMediaType: 'text/html',
  otherOk: { 303: Type.Object({}, { additionalProperties: false }) },
} as const;

type Request = {
  readonly headers: { readonly [name: string]: string | undefined };
  readonly params: { readonly [name: string]: string };
};
type Ask = { readonly request: Request; readonly plays: Plays };

export function pageRoutes<Key extends string, Data>(
  of: PageOf<Key, Data>,
  given: PageDependencies<Key>,
): readonly Endpoint[] {
  const needs = { ...given, of, visits: visits(given) };
  const params = of.params === undefined ? {} : { params: of.params };
  return [
    pageEndpoint(
      {
        ...PAGE_CONTRACT,
        ...params,
        refusals: {},
        name: of.name,
        summary: of.summary,
        description: of.description,
        method: 'get',
        path: of.path,
        query: Type.Object({
          in: Type.Optional(Type.String({ maxLength: NAME_MAX_CHARS })),
          part: Type.Optional(Type.Enum(['state'])),
        }),
      },
      ({ headers, params: named, query }, plays) =>
        unlessAway(needs, headers, () =>
          show(needs, { request: { headers, params: named as Request['params'] }, plays }, query),
        ),
    ),
    ...(Object.keys(of.forms).length === 0 ? [] : [formRoute(needs, params)]),
  ];
}

type Needs<Key extends string, Data> = PageDependencies<Key> & {
  readonly of: PageOf<Key, Data>;
  readonly visits: ReturnType<typeof visits>;
};

const formRoute = <Key extends string, Data>(
  needs: Needs<Key, Data>,
  params: { readonly params?: ReturnType<typeof Type.Object> },
): Endpoint =>
  pageEndpoint(
    {
      ...PAGE_CONTRACT,
      ...params,
      name: `${needs.of.name}_form`,
      summary: `${needs.of.summary}: its forms`,
      description: 'Takes a form of the page, and plays the endpoint that the form is for.',
      method: 'post',
      path: needs.of.path,
      retry: 'never',
      takesForm: true,
      refusals: { rate_limited: 429 },
      bodyLimitBytes: FORM_MAX_BYTES,
      body: Type.Object(
        {
          form: Type.Enum(Object.keys(needs.of.forms)),
          form_token: Type.String({ maxLength: 64 }),
          ...fieldsOf(Object.values(needs.of.forms)),
        },
        { additionalProperties: false },
      ),
    },
    ({ headers, params: named, body, ip }, plays) =>
      unlessAway(needs, headers, async () => {
        const retryAfter = await needs.admitForm(ip);
        if (retryAfter !== undefined) {
          const told = frameOf(needs.texts, undefined, headers);
          const alert = told.sayRefusal('rate_limited', String(retryAfter));
          return answered(429, plainPage(told, told.say('failed.title'), alert));
        }
        const ask = { request: { headers, params: named as Request['params'] }, plays };
        return press(
          needs,
          ask,
          body as unknown as Typed & { readonly form: string; readonly form_token: string },
        );
      }),
  );

/** All that any of the forms sends: its endpoint says what of it is right. */
const fieldsOf = (forms: readonly PageForm[]) =>
  Object.fromEntries(
    forms.flatMap(({ fields }) => fields.map((name) => [name, Type.Optional(Type.String())])),
  );

type Answer = { readonly raw: (response: ServerResponse) => void };

async function show<Key extends string, Data>(
  needs: Needs<Key, Data>,
  ask: Ask,
  query: { readonly in?: string; readonly part?: string },
): Promise<Answer> {
  const { headers } = ask.request;
  const path = pathOf(needs.of.path, ask.request.params);
  const visit = await needs.visits.open(headers);
  // Before the sign-in nothing is read: whoever only follows links learns nothing, and costs no query.
  if (visit === undefined) return redirected(signInAddress({ returnTo: path, tenant: query.in }));
  const isElsewhere = query.in !== undefined && query.in !== visit.tenantId;
  // An open page asks again and again, and shows nothing of the frame.
  if (query.part === 'state' && !isElsewhere) return stateOf(needs, ask, visit);
  const frame = await frameFor(needs, visit, headers);
  if (isElsewhere) {
    return answered(200, elsewherePage(frame, signInAddress({ returnTo: path, tenant: query.in })));
  }
  const read = await played(needs, ask, { visit, endpoint: needs.of.reads });
  return shown(needs, { frame, visit, path, read });
}

async function press<Key extends string, Data>(
  needs: Needs<Key, Data>,
  ask: Ask,
  body: Typed & { readonly form: string; readonly form_token: string },
): Promise<Answer> {
  const { headers, params } = ask.request;
  const path = pathOf(needs.of.path, params);
  const visit = await needs.visits.open(headers);
  if (visit === undefined) {
    return answered(401, endedPage(frameOf(needs.texts, undefined, headers), path));
  }
  const frame = await frameFor(needs, visit, headers);
  const { PUBLIC_URL, ISSUER } = needs.settings;
  const origins = [PUBLIC_URL, ISSUER].map((url) => new URL(url).origin);
  const isOurs = isOwnForm(headers, origins) && isFormToken(body.form_token, visit.cookie, path);
  if (!isOurs) {
    return answered(403, plainPage(frame, frame.say('failed.title'), frame.say('failed.foreign')));
  }
  const form = needs.of.forms[body.form];
  const isForeign = Object.keys(body).some(
    (name) => !['form', 'form_token', ...(form?.fields ?? [])].includes(name),
  );
  if (form === undefined || isForeign) {
    return answered(400, plainPage(frame, frame.say('failed.title'), frame.say('refused.other')));
  }
  const typed = Object.fromEntries(form.fields.map((name) => [name, body[name] ?? '']));
  const sent = formBody(form.endpoint, form.fields, typed);
  const pressed = await played(needs, ask, { visit, endpoint: form.endpoint, body: sent });
  if (pressed === 'gone') return NOTHING_SENT;
  if (!('refusal' in pressed)) {
    const seen = pressed.headers['X-Service-Consistency'];
    const cookies = typeof seen === 'string' ? [needs.visits.writtenSeen(seen)] : [];
    return redirected(path, [...visit.cookies, ...cookies]);
  }
  const read = await played(needs, ask, { visit, endpoint: needs.of.reads });
  return shown(needs, { frame, visit, path, read, typed, refusal: pressed.refusal });
}

type Refusal = Extract<PlayedOutcome, { readonly refusal: unknown }>['refusal'];

function shown<Key extends string, Data>(
  { of, clock }: Needs<Key, Data>,
  given: {
    readonly frame: Frame<Key>;
    readonly visit: Visit;
    readonly path: string;
    readonly read: PlayedOutcome;
    readonly typed?: Typed;
    readonly refusal?: Refusal;
  },
): Answer {
  const { frame, visit, path, read, refusal, typed = {} } = given;
  if (read === 'gone') return NOTHING_SENT;
  if ('refusal' in read) {
    if (read.refusal.code === 'unauthenticated') {
      return redirected(signInAddress({ returnTo: path, tenant: visit.tenantId }));
    }
    const other = signInAddress({ returnTo: path, tenant: visit.tenantId, isFresh: true });
    return answered(read.refusal.status, refusedPage(frame, read.refusal, other), visit.cookies);
  }
  const body = of.view({
    frame,
    path,
    typed,
    data: read.body as Data,
    userId: visit.userId,
    now: clock.now(),
    formToken: formToken(visit.cookie, path),
    signOutToken: formToken(visit.cookie, SIGN_OUT_PATH),
    refused: refusal?.code,
  } satisfies Shown<Key, Data>);
  if (refusal === undefined) return answered(200, page(frame, body), visit.cookies);
  const alert = frame.sayRefusal(refusal.code, refusal.headers?.['Retry-After']);
  const address = signInAddress({ returnTo: path, tenant: visit.tenantId, isFresh: true });
  const again =
    refusal.code === STEP_UP
      ? html`<p><a class="button main" href="${address}">${frame.say('page.sign_in_again')}</a></p>`
      : html``;
  const told = page(frame, { ...body, alert, body: html`${again}${body.body}` });
  return answered(refusal.status, told, visit.cookies);
}

/** Held until what is shown has changed, or for as long as a long poll is. */
async function stateOf<Key extends string, Data>(
  needs: Needs<Key, Data>,
  ask: Ask,
  visit: Visit,
): Promise<Answer> {
  const endpoint = needs.of.changes ?? needs.of.reads;
  const read = await played(needs, ask, { visit, endpoint });
  if (read === 'gone') return NOTHING_SENT;
  const status = 'refusal' in read ? read.refusal.status : 200;
  const state = 'refusal' in read ? null : ((read.body as { status?: unknown }).status ?? null);
  return {
    raw: (response) => {
      response.writeHead(status, {
        'Content-Type': 'application/json',
        'Cache-Control': 'no-store',
        'X-Content-Type-Options': 'nosniff',
        ...cookieHeader(visit.cookies),
      });
      response.end(JSON.stringify({ state }));
    },
  };
}

const played = <Key extends string, Data>(
  needs: Needs<Key, Data>,
  { request, plays }: Ask,
  of: { readonly visit: Visit; readonly endpoint: Endpoint; readonly body?: object },
): Promise<PlayedOutcome> => {
  const seen = needs.visits.seen(request.headers);
  return plays(of.endpoint, {
    credential: of.visit.cookie.token,
    params: request.params,
    body: of.body,
    headers: {
      'x-service-tenant': of.visit.tenantId,
      ...(seen === undefined ? {} : { 'x-service-consistency': seen }),
    },
  });
};

const frameFor = async <Key extends string, Data>(
  { tenant, texts }: Needs<Key, Data>,
  { tenantId }: Visit,
  headers: Request['headers'],
): Promise<Frame<Key>> => frameOf(texts, await tenant(tenantId), headers);

/** Says so in words where something that the page needs is away; what nobody expects is left to the pipeline. */
async function unlessAway<Key extends string, Data>(
  { texts }: Needs<Key, Data>,
  headers: Request['headers'],
  work: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    const refusal = refusalOfThrow(error);
    if (refusal.status !== AWAY) throw error;
    const frame = frameOf(texts, undefined, headers);
    const told = plainPage(frame, frame.say('failed.title'), frame.sayRefusal(refusal.code));
    return answered(AWAY, told);
  }
}

/** A foreign object and an unknown one look the same; either may belong to another account of the reader's. */
function refusedPage<Key extends string>(
  frame: Frame<Key>,
  { status, code }: Refusal,
  other: string,
): Html {
  const lead = status === 404 ? frame.say('page.not_found') : frame.sayRefusal(code);
  return page(frame, {
    title: frame.say('failed.title'),
    body: html`<p>${lead}</p>
<p><a class="button" href="${other}">${frame.say('page.other_account')}</a></p>`,
  });
}

const elsewherePage = <Key extends string>(frame: Frame<Key>, there: string): Html =>
  page(frame, {
    title: frame.say('page.elsewhere_title'),
    body: html`<p>${frame.say('page.elsewhere', { tenant: frame.tenantName })}</p>
<p><a class="button main" href="${there}">${frame.say('page.switch')}</a></p>`,
  });

const endedPage = <Key extends string>(frame: Frame<Key>, path: string): Html =>
  page(frame, {
    title: frame.say('failed.title'),
    body: html`<p>${frame.say('page.ended')}</p>
<p><a class="button main" href="${signInAddress({ returnTo: path })}">${frame.say('page.sign_in_again')}</a></p>`,
  });

const pathOf = (path: string, params: Request['params']): string =>
  path.replaceAll(/\{(\w+)\}/g, (_whole, name) => encodeURIComponent(params[name] ?? ''));

const cookieHeader = (cookies: readonly string[]): { 'Set-Cookie'?: string[] } =>
  cookies.length === 0 ? {} : { 'Set-Cookie': [...cookies] };

const answered = (status: number, told: Html, cookies: readonly string[] = []): Answer => ({
  raw: (response) => {
    if (cookies.length > 0) response.setHeader('Set-Cookie', [...cookies]);
    send(status, told)(response);
  },
});

const redirected = (location: string, cookies: readonly string[] = []): Answer => ({
  raw: (response) => {
    response.writeHead(303, {
      Location: location,
      'Cache-Control': 'no-store',
      ...cookieHeader(cookies),
    });
    response.end();
  },
});

const NOTHING_SENT: Answer = { raw: () => undefined };
