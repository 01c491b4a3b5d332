/** Handles a posted form: confirms the sign-in if that is required, and then calls the form's endpoint. */
import type { Fault } from '@cardea/http';
import { type Frame, frameOf, plainPage } from '../page.ts';
import { isFormToken, isOwnForm } from '../session/page-cookie.ts';
import type { Visit } from '../session/visits.ts';
import { changedFields, conflicts } from './changed-fields.ts';
import { drawPage, framed, type Pressed, paramsOf, shownOf } from './draw-page.ts';
import { formBody, isSecret, type Typed } from './form-body.ts';
import { AT_FIELD, CONFIRMED, presetOf } from './form-view.ts';
import {
  type Answer,
  answered,
  answeredFile,
  endedPage,
  NOTHING_SENT,
  redirected,
  shownBeforePage,
  unreadablePage,
} from './page-answers.ts';
import {
  answersOf,
  type Call,
  frameFor,
  type PageContext,
  pathOf,
  played,
  type Refusal,
} from './page-context.ts';
import type { PageForm } from './page-of.ts';
import { PROOF_ALONE, PROOF_FIELDS, proofOf } from './proof-view.ts';

export type Sent = Typed & { readonly form: string; readonly form_token: string };

const STEP_UP = 'step_up_required';
/** Fields that are sent in addition to what is typed. */
const OWN_FIELDS = ['form', 'form_token', 'key', CONFIRMED, PROOF_ALONE, ...PROOF_FIELDS];
const BESIDE = /^(?:param|was)\./;

type Press<Key extends string, Data> = {
  readonly context: PageContext<Key, Data>;
  readonly call: Call;
  readonly sent: Sent;
  readonly form: PageForm<Key, Data>;
  readonly frame: Frame<Key>;
  readonly path: string;
  readonly visit: Visit;
};
/** The reason why the form is shown again. */
type Fallback = Omit<Pressed, 'form' | 'typed'> & { readonly status: number };

export async function press<Key extends string, Data>(
  context: PageContext<Key, Data>,
  call: Call,
  sent: Sent,
): Promise<Answer> {
  const { headers, params } = call.request;
  const path = pathOf(context.of.path, params);
  const form = context.of.forms[sent.form];
  const visit = await context.visits.open(headers, true);
  if (visit === undefined) {
    const frame = frameOf(context.texts, undefined, headers);
    return answered(401, endedPage(frame, path, entriesOf(form, sent)));
  }
  const frame = await frameFor(context, visit, headers);
  const failed = (status: number, key: 'failed.foreign' | 'refused.other') =>
    answered(status, plainPage(frame, frame.say('failed.title'), frame.say(key)));
  const { PUBLIC_URL, ISSUER } = context.settings;
  const origins = [PUBLIC_URL, ISSUER].map((url) => new URL(url).origin);
  if (!isOwnForm(headers, origins)) return failed(403, 'failed.foreign');
  const isKnown = form !== undefined && Object.keys(sent).every((name) => isOf(form, name));
  const isOurs = isFormToken(sent.form_token, visit.cookie, path);
  if (!isKnown) return failed(isOurs ? 400 : 403, isOurs ? 'refused.other' : 'failed.foreign');
  const pressed = { context, call, sent, form, frame, path, visit };
  if (!isOurs) {
    // The form is ours, but of another sign-in. Nothing is done, and the typed values are kept.
    const alert = frame.say('failed.other_sign_in');
    const again = await shownAgain(pressed, { status: 403, alert });
    return again ?? failed(403, 'failed.foreign');
  }
  if (form.once !== undefined && context.visits.wasShown(headers, sent['key'])) {
    return answered(409, shownBeforePage(frame, path));
  }
  return confirmed(pressed);
}

const isOf = <Key extends string, Data>(form: PageForm<Key, Data>, name: string): boolean =>
  OWN_FIELDS.includes(name) ||
  BESIDE.test(name) ||
  form.fields.some((field) => field.name === name);

/** The typed values without secrets, and everything else that the form sends. */
export const entriesOf = <Key extends string, Data>(
  form: PageForm<Key, Data> | undefined,
  sent: Sent,
): Typed =>
  Object.fromEntries(
    Object.entries(sent).filter(
      ([name]) =>
        !name.startsWith('proof_') &&
        form?.fields.some((field) => field.name === name && isSecret(field)) !== true,
    ),
  );

/** Confirms the sign-in by the proof that was sent with the form. The response contains the new cookie. */
async function confirmed<Key extends string, Data>(pressed: Press<Key, Data>): Promise<Answer> {
  const { context, call, sent, path, frame } = pressed;
  const proof = proofOf(sent);
  const isAlone = sent[PROOF_ALONE] !== undefined;
  if (proof === undefined) {
    if (!isAlone) return checked(pressed);
    return again(pressed, { status: 401, code: STEP_UP, alert: frame.sayRefusal(STEP_UP) });
  }
  const { ip, userAgent, requestId } = call.request;
  const { token } = pressed.visit.cookie;
  const shown = await context.stepUp({ token, ip, userAgent, requestId, proof });
  if ('refused' in shown) {
    const { refused: code, status, retryAfter } = shown;
    const alert = frame.sayRefusal(code, retryAfter ?? undefined);
    return again(pressed, { status, code, alert, isProof: true });
  }
  const visit = context.visits.confirmed(pressed.visit, shown.token);
  if (!isAlone) return checked({ ...pressed, visit });
  const search = new URLSearchParams({ form: sent.form });
  for (const [name, value] of Object.entries(sent)) {
    if (name.startsWith('param.')) search.set(name, value);
  }
  return redirected(`${path}?${search}`, visit.cookies);
}

/** Checks the text that has to be typed first, and the changes of other clients since the form was shown. */
async function checked<Key extends string, Data>(pressed: Press<Key, Data>): Promise<Answer> {
  const { context, call, sent, form, frame, visit, path } = pressed;
  const isPatch = form.endpoint.contract.method === 'patch' && form.current !== undefined;
  if (form.confirmedBy === undefined && !isPatch) return done(pressed, form.fields);
  const changed = isPatch ? changedFields(form.fields, sent) : form.fields;
  if (isPatch && changed.length === 0) return redirected(`${path}?done=unchanged`, visit.cookies);
  const answers = await answersOf(context, call, visit);
  if (answers === 'gone') return NOTHING_SENT;
  if ('refusal' in answers) return unreadablePage(pressed, answers.refusal);
  const data = answers.data as Data;
  const name = form.confirmedBy?.({ data });
  if (name !== undefined && !isSameName(sent[CONFIRMED], name)) {
    const faults = [{ field: CONFIRMED, rule: 'enum' }];
    return again(pressed, { status: 400, faults, alert: frame.say('confirm.wrong') });
  }
  const theirs = isPatch
    ? conflicts(changed, sent, form.current?.(data, paramsOf(sent)) ?? {})
    : {};
  if (Object.keys(theirs).length > 0) {
    return again(pressed, { status: 409, conflicts: theirs, alert: frame.say('form.conflict') });
  }
  return done(pressed, changed);
}

/** Ignores case, because keyboards of phones begin with a capital letter. */
const isSameName = (typed: string | undefined, name: string): boolean =>
  (typed ?? '').trim().toLowerCase() === name.trim().toLowerCase();

async function done<Key extends string, Data>(
  pressed: Press<Key, Data>,
  fields: PageForm<Key, Data>['fields'],
): Promise<Answer> {
  const { context, call, sent, form, frame, visit, path } = pressed;
  const { endpoint } = form;
  const body = {
    ...presetOf(form, visit.userId),
    ...formBody(endpoint, fields, sent),
    ...confirmation(form, sent),
  };
  const params = { ...call.request.params, ...paramsOf(sent) };
  const key = sent['key'];
  const outcome = await played(context, call, { visit, endpoint, params, body, key });
  if (outcome === 'gone') return NOTHING_SENT;
  if ('refusal' in outcome) return refused(pressed, outcome.refusal);
  const seen = outcome.headers['X-Service-Consistency'];
  const written = typeof seen === 'string' ? [context.visits.writtenSeen(seen)] : [];
  const cookies = [...visit.cookies, ...written];
  if (form.download !== undefined) return answeredFile(form.download, outcome.body, cookies);
  if (form.once === undefined) {
    return redirected(form.done === undefined ? path : `${path}?done=${sent.form}`, cookies);
  }
  const answers = await answersOf(context, call, visit);
  if (answers === 'gone') return NOTHING_SENT;
  if ('refusal' in answers) return unreadablePage(pressed, answers.refusal);
  const { request } = call;
  const drawing = { context, request, frame, visit, path, data: answers.data as Data };
  const shown = form.once(shownOf(drawing), outcome.body as never);
  const once = context.visits.writtenShown(request.headers, key);
  return answered(200, framed(drawing, shown), [...cookies, ...once]);
}

const confirmation = <Key extends string, Data>(
  { confirmedAs }: PageForm<Key, Data>,
  sent: Sent,
): object => (confirmedAs === undefined ? {} : { [confirmedAs]: sent[CONFIRMED] ?? '' });

function refused<Key extends string, Data>(
  pressed: Press<Key, Data>,
  { status, code, details, headers }: Refusal,
): Promise<Answer> | Answer {
  const { form, sent, frame, path } = pressed;
  if (code === 'unauthenticated') {
    return answered(401, endedPage(frame, path, entriesOf(form, sent)));
  }
  const alert = frame.sayRefusal(code, headers?.['Retry-After']);
  const field = form.refusedAt?.[code];
  const faults = field === undefined ? faultsOf(details) : [{ field, rule: AT_FIELD }];
  return again(pressed, { status, code, faults, alert });
}

const faultsOf = (details: object | undefined): readonly Fault[] =>
  Array.isArray(details) ? details.filter((each) => typeof each?.field === 'string') : [];

/** Shows the form once more, with the confirmation in it if the sign-in is too old. */
async function again<Key extends string, Data>(
  pressed: Press<Key, Data>,
  fallback: Fallback & { readonly isProof?: boolean },
): Promise<Answer> {
  return (await shownAgain(pressed, fallback)) ?? NOTHING_SENT;
}

async function shownAgain<Key extends string, Data>(
  pressed: Press<Key, Data>,
  { status, isProof = false, ...fallback }: Fallback & { readonly isProof?: boolean },
): Promise<Answer | undefined> {
  const { context, call, sent, frame, visit, path, form } = pressed;
  const isDue = isProof || fallback.code === STEP_UP;
  const [answers, due] = await Promise.all([
    answersOf(context, call, visit),
    isDue ? context.proofs({ token: visit.cookie.token, withChallenge: false }) : undefined,
  ]);
  if (answers === 'gone') return undefined;
  if ('refusal' in answers) {
    return status === 403 ? undefined : unreadablePage(pressed, answers.refusal);
  }
  const alone = sent[PROOF_ALONE] === undefined;
  const { request } = call;
  const shown = drawPage({
    context,
    request: alone ? request : { ...request, query: { ...request.query, form: sent.form } },
    frame,
    visit,
    path,
    data: answers.data as Data,
    ways: due?.ways,
    pressed: { form: sent.form, typed: entriesOf(form, sent), isProofAlone: !alone, ...fallback },
  });
  return answered(status, shown, visit.cookies);
}
