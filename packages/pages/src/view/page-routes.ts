/**
 * The two endpoints of a page. GET shows the responses of other endpoints to the signed-in person. POST to the same
 * path calls the endpoint of one of its forms. Neither makes decisions itself.
 */
import { type Endpoint, pageEndpoint, refusalOfThrow } from '@cardea/http';
import Type from 'typebox';
import { frameOf, plainPage } from '../page.ts';
import { visits } from '../session/visits.ts';
import { shownName } from './changed-fields.ts';
import { CONFIRMED, paramName } from './form-view.ts';
import { type Answer, answered, awayPage } from './page-answers.ts';
import {
  type PageContext,
  type PageDependencies,
  type PageRequest,
  pathOf,
} from './page-context.ts';
import type { PageOf, Strings } from './page-of.ts';
import { entriesOf, press, type Sent } from './press-form.ts';
import { PROOF_ALONE, PROOF_FIELDS } from './proof-view.ts';
import { show } from './show-page.ts';

const NAME_MAX_CHARS = 128;
const QUERY_MAX_CHARS = 512;
const FORM_MAX_BYTES = 64 * 1024;
const FIELDS_MAX = 200;
const AWAY = 503;

/** The parts that the contracts of all pages share. */
export const PAGE_CONTRACT = {
  audience: 'page',
  tag: 'Pages',
  who: 'anyone',
  tenant: 'none',
  response: {
    others: { 303: Type.Object({}, { additionalProperties: false }) },
    mediaType: 'text/html',
    isSecret: true,
  },
  ok: Type.String(),
} as const;

const text = (maxLength: number) => Type.Optional(Type.String({ maxLength }));
const strings = (names: readonly string[], maxLength: number) =>
  Object.fromEntries(names.map((name) => [name, text(maxLength)]));
/** Returns undefined if there is nothing to choose. */
const oneOf = (name: string, values: readonly string[]) =>
  values.length === 0 ? {} : { [name]: Type.Optional(Type.Enum([...values])) };

export function pageRoutes<Key extends string, Data>(
  of: PageOf<Key, Data>,
  given: PageDependencies<Key>,
): readonly Endpoint[] {
  const context: PageContext<Key, Data> = { ...given, of, visits: visits(given) };
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
        query: Type.Object(queryFields(of)),
      },
      (request, plays) => {
        const asked = requestOf(request);
        return unlessAway(context, asked, undefined, () =>
          show(context, { request: asked, plays }),
        );
      },
    ),
    ...(Object.keys(of.forms).length === 0 ? [] : [formRoute(context, params)]),
  ];
}

const paramsOfForms = <Key extends string, Data>({ forms }: PageOf<Key, Data>): readonly string[] =>
  Object.values(forms).flatMap(({ endpoint }) =>
    [...endpoint.contract.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => paramName(name)),
  );

function queryFields<Key extends string, Data>(of: PageOf<Key, Data>) {
  const forms = Object.keys(of.forms);
  const urls = Object.values(of.reads).flatMap(({ url = {} }) => Object.values(url));
  const parts = ['state', ...Object.keys(of.parts ?? {}), ...(forms.length > 0 ? ['proof'] : [])];
  const hasPasskey = Object.values(of.forms).some(({ passkey }) => passkey !== undefined);
  return {
    in: text(NAME_MAX_CHARS),
    ...oneOf('part', hasPasskey ? [...parts, 'passkey'] : parts),
    ...oneOf('form', forms),
    ...oneOf('done', forms.length > 0 ? [...forms, 'unchanged'] : []),
    ...strings(urls, QUERY_MAX_CHARS),
    ...strings(paramsOfForms(of), NAME_MAX_CHARS),
  };
}

type Given = {
  readonly headers: PageRequest['headers'];
  readonly params: unknown;
  readonly ip: string;
  readonly userAgent: string;
  readonly requestId: string;
  readonly query?: unknown;
};
const requestOf = ({ headers, params, query, ip, userAgent, requestId }: Given): PageRequest => ({
  headers,
  params: (params ?? {}) as Strings,
  query: (query ?? {}) as Strings,
  ip,
  userAgent,
  requestId,
});

const formRoute = <Key extends string, Data>(
  context: PageContext<Key, Data>,
  params: { readonly params?: ReturnType<typeof Type.Object> },
): Endpoint =>
  pageEndpoint(
    {
      ...PAGE_CONTRACT,
      ...params,
      name: `${context.of.name}_form`,
      summary: `${context.of.summary}: its forms`,
      description: 'Takes a form of the page, and plays the endpoint that the form is for.',
      method: 'post',
      path: context.of.path,
      repeat: 'never',
      input: { takesForm: true, limitBytes: FORM_MAX_BYTES },
      refusals: { rate_limited: 429 },
      body: Type.Object(bodyFields(context.of), { additionalProperties: false }),
    },
    (request, plays) => {
      const asked = requestOf(request);
      const sent = request.body as unknown as Sent;
      return unlessAway(context, asked, sent, async () => {
        const retryAfter = await context.admitForm(asked.ip);
        if (retryAfter === undefined) return press(context, { request: asked, plays }, sent);
        const frame = frameOf(context.texts, undefined, asked.headers);
        const alert = frame.sayRefusal('rate_limited', String(retryAfter));
        return answered(429, plainPage(frame, frame.say('failed.title'), alert));
      });
    },
  );

/** All fields of any of the forms. The endpoint validates them. */
function bodyFields<Key extends string, Data>(of: PageOf<Key, Data>) {
  const names = Object.values(of.forms).flatMap(({ fields }) => fields.map(({ name }) => name));
  if (names.length > FIELDS_MAX) throw new Error('a page has more fields than anybody fills in');
  return {
    form: Type.Enum(Object.keys(of.forms)),
    form_token: Type.String({ maxLength: 64 }),
    key: Type.Optional(Type.String({ pattern: '^[0-9a-f-]{36}$' })),
    ...strings([...names, ...names.map(shownName), ...PROOF_FIELDS], FORM_MAX_BYTES),
    ...strings([CONFIRMED, PROOF_ALONE], QUERY_MAX_CHARS),
    ...strings(paramsOfForms(of), NAME_MAX_CHARS),
  };
}

/** Shows a page if a dependency is unavailable. Unexpected errors are left to the pipeline. */
async function unlessAway<Key extends string, Data>(
  { texts, of }: PageContext<Key, Data>,
  { headers, params }: PageRequest,
  sent: Sent | undefined,
  work: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    const refusal = refusalOfThrow(error);
    if (refusal.status !== AWAY) throw error;
    const frame = frameOf(texts, undefined, headers);
    const form = sent === undefined ? undefined : of.forms[sent.form];
    const entries = sent === undefined ? undefined : entriesOf(form, sent);
    const path = pathOf(of.path, params);
    const again = entries === undefined ? undefined : { path, entries };
    return answered(AWAY, awayPage(frame, refusal.code, again));
  }
}
