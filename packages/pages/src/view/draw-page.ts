/** Renders a page from what it has read: its view, or one of its forms alone. */
import { AUTH_AGE_SECONDS_MAX, type Fault, stepUpOf } from '@cardea/http';
import { html, type Markup, NOTHING } from '../markup.ts';
import { type Frame, type Html, type PageBody, page } from '../page.ts';
import { PARTS_SCRIPT, PASSKEY_SCRIPT, SHOW_PASSWORD_SCRIPT, scriptsOf } from '../scripts.ts';
import { formToken, pageClaims } from '../session/page-cookie.ts';
import { SIGN_OUT_PATH, signInAddress } from '../session/page-paths.ts';
import type { Visit } from '../session/visits.ts';
import { curlDetails } from './curl-line.ts';
import type { Typed } from './form-body.ts';
import { type Drawn, formCurl, formLink, formMarkup } from './form-view.ts';
import { listView } from './list-view.ts';
import { type PageContext, type PageRequest, queryOf } from './page-context.ts';
import type { FormUse, PageForm, Shown, Strings } from './page-of.ts';
import { type ProofKind, proofFields } from './proof-view.ts';

/** A sign-in that becomes too old before a form can be filled in counts as too old already. */
const FILLING_S = 60;
const STEP_UP = 'step_up_required';

/** A form that was refused, with the typed values. */
export type Pressed = {
  readonly form: string;
  readonly typed: Typed;
  /** Undefined if only another client's changes conflict. */
  readonly code?: string;
  readonly faults?: readonly Fault[];
  readonly conflicts?: Typed;
  /** Whether only the confirmation was sent. */
  readonly isProofAlone?: boolean;
  readonly alert: string;
};

export type Drawing<Key extends string, Data> = {
  readonly context: PageContext<Key, Data>;
  readonly request: PageRequest;
  readonly frame: Frame<Key>;
  readonly visit: Visit;
  readonly path: string;
  readonly data: Data;
  readonly pressed?: Pressed | undefined;
  /** The methods with which the sign-in can be confirmed, if that is due. */
  readonly ways?: readonly ProofKind[] | undefined;
};

export const isOldSignIn = ({ cookie }: Visit, now: Date): boolean =>
  now.getTime() / 1_000 - pageClaims(cookie).auth_time > AUTH_AGE_SECONDS_MAX - FILLING_S;

/** Whether the form is shown alone. */
export const opensAlone = <Key extends string, Data>(form: PageForm<Key, Data>): boolean =>
  form.opens !== undefined ||
  form.passkey !== undefined ||
  stepUpOf(form.endpoint.contract) !== 'none';

const challengeAt = (path: string): string => `${path}?part=proof`;

export function shownOf<Key extends string, Data>(of: Drawing<Key, Data>): Shown<Key, Data> {
  const { context, frame, visit, path, data, request } = of;
  const base = {
    baseUrl: context.settings.PUBLIC_URL,
    tenantId: visit.tenantId,
    params: request.params,
  };
  const curl = (name: string): Markup => {
    const read = context.of.reads[name];
    if (read === undefined) throw new Error('a page shows a call that it does not make');
    const query = queryOf(read, request, visit.userId);
    return curlDetails(frame, { ...base, endpoint: read.endpoint, query });
  };
  return {
    frame,
    data,
    path,
    userId: visit.userId,
    now: context.clock.now(),
    curl,
    form: (name, use = {}) => {
      const drawn = drawnForm(of, name, use);
      return opensAlone(drawn.form) && use.isHere !== true ? formLink(drawn) : formMarkup(drawn);
    },
    list: (list) => {
      const read = context.of.reads[list.read];
      if (read === undefined) throw new Error('a page lists what it does not read');
      const query = queryOf(read, request, visit.userId);
      return listView({ say: frame.say, path, read, query, curl: curl(list.read) }, list);
    },
  };
}

function drawnForm<Key extends string, Data>(
  of: Drawing<Key, Data>,
  name: string,
  use: FormUse,
): Drawn<Key> {
  const { context, frame, visit, path, data, pressed, request } = of;
  const form = context.of.forms[name];
  if (form === undefined) throw new Error('a page shows a form that it does not have');
  const isPressed = pressed?.form === name;
  return {
    name,
    form: form as unknown as PageForm<Key, never>,
    use,
    say: frame.say,
    path,
    formToken: formToken(visit.cookie, path),
    pressed: pressed?.form,
    typed: pressed?.typed ?? {},
    faults: pressed?.faults ?? [],
    conflicts: pressed?.conflicts ?? {},
    current: form.current?.(data, use.params ?? {}) ?? {},
    userId: visit.userId,
    confirmedBy: form.confirmedBy?.({ data }),
    proof:
      isPressed &&
      of.ways !== undefined &&
      form.passkey === undefined &&
      pressed.isProofAlone !== true
        ? proofMarkup(of, of.ways)
        : undefined,
    called: {
      baseUrl: context.settings.PUBLIC_URL,
      tenantId: visit.tenantId,
      params: request.params,
    },
  };
}

const proofMarkup = <Key extends string, Data>(
  { frame, path, visit, pressed }: Drawing<Key, Data>,
  ways: readonly ProofKind[],
): Markup =>
  proofFields(frame.say, {
    ways,
    challenge: challengeAt(path),
    signIn: signInAddress({ returnTo: path, tenant: visit.tenantId, isFresh: true }),
    isWrong: pressed?.code !== undefined && pressed.code !== STEP_UP,
  });

/** One form alone: its effect and its fields, or the confirmation instead if the sign-in is too old. */
function formPage<Key extends string, Data>(
  of: Drawing<Key, Data>,
  name: string,
  params: Strings,
): PageBody {
  const { frame, path } = of;
  const { say } = frame;
  const form = of.context.of.forms[name];
  if (form === undefined) throw new Error('a page shows a form that it does not have');
  const drawn = { ...drawnForm(of, name, { params }), isAlone: true };
  const lead = form.opens?.(shownOf(of), params);
  const body =
    of.ways !== undefined && drawn.proof === undefined
      ? proofFirst(of, drawn, of.ways)
      : html`${formMarkup(drawn)}${form.passkey === undefined ? formCurl(drawn) : NOTHING}`;
  return {
    title: say(form.title),
    width: 'form',
    body: html`${lead === undefined ? NOTHING : typeof lead === 'string' ? html`<p>${lead}</p>` : lead}${body}<p class="cancel"><a class="button" href="${path}">${say('form.cancel')}</a></p>`,
  };
}

/** Shows the confirmation first, and the form after it. */
function proofFirst<Key extends string, Data>(
  of: Drawing<Key, Data>,
  drawn: Drawn<Key>,
  ways: readonly ProofKind[],
): Markup {
  const proof = proofMarkup(of, ways);
  if (ways.length === 0) return proof;
  const { passkey: _, ...rest } = drawn.form;
  const form = { ...rest, fields: [], submit: 'proof.submit' } as const;
  return formMarkup({
    ...drawn,
    form,
    proof,
    confirmedBy: undefined,
    isProofAlone: true,
    isByPasskey: ways.every((way) => way === 'passkey'),
  });
}

/** Renders the whole page. If one of its forms was refused or opened, shows that form in the page or alone. */
export function drawPage<Key extends string, Data>(of: Drawing<Key, Data>): Html {
  const { context, request, pressed, data } = of;
  const opened = pressed?.form ?? request.query['form'];
  const named = opened === undefined ? undefined : context.of.forms[opened];
  const form = named?.isOffered?.(data) === false ? undefined : named;
  const isAlone = form !== undefined && (opensAlone(form) || request.query['form'] === opened);
  const params = paramsOf(pressed?.typed ?? request.query);
  const body =
    isAlone && opened !== undefined ? formPage(of, opened, params) : context.of.view(shownOf(of));
  const notice = pressed === undefined ? noticeOf(of) : NOTHING;
  return framed(of, {
    ...body,
    body: html`${notice}${body.body}`,
    alert: pressed?.alert ?? body.alert,
  });
}

/** Adds the frame with the navigation, and the scripts that its markup needs. */
export function framed<Key extends string, Data>(
  { frame, visit, path }: Pick<Drawing<Key, Data>, 'frame' | 'visit' | 'path'>,
  body: PageBody,
): Html {
  const { text } = body.body;
  const script = scriptsOf(
    (text.includes('data-challenge') || text.includes('data-proof')) && PASSKEY_SCRIPT,
    text.includes('data-reveals') && SHOW_PASSWORD_SCRIPT,
    (text.includes('data-part=') || text.includes('data-named-by=')) && PARTS_SCRIPT,
    body.script ?? false,
  );
  const nav = { path, signOutToken: formToken(visit.cookie, SIGN_OUT_PATH) };
  return page(frame, { ...body, script, nav });
}

function noticeOf<Key extends string, Data>({
  context,
  request,
  frame,
}: Drawing<Key, Data>): Markup {
  const done = request.query['done'];
  if (done === undefined) return NOTHING;
  const text = done === 'unchanged' ? 'form.unchanged' : context.of.forms[done]?.done;
  return text === undefined
    ? NOTHING
    : html`<div class="note good" role="status"><p>${frame.say(text)}</p></div>
`;
}

const PARAM = 'param.';
/** The parameters of a form's endpoint, from the address or from the form. */
export const paramsOf = (given: Strings): Strings =>
  Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) =>
      name.startsWith(PARAM) ? [[name.slice(PARAM.length), value]] : [],
    ),
  );
