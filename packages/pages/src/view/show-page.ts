/** Shows a page, a part of it, or what one of its scripts requests. Nothing is changed. */
import { stepUpOf } from '@cardea/http';
import { signInAddress } from '../session/page-paths.ts';
import type { Visit } from '../session/visits.ts';
import { drawPage, isOldSignIn, opensAlone, shownOf } from './draw-page.ts';
import {
  type Answer,
  answered,
  answeredFragment,
  answeredJson,
  elsewherePage,
  NOTHING_SENT,
  redirected,
  unreadablePage,
} from './page-answers.ts';
import {
  answersOf,
  type Call,
  frameFor,
  type PageContext,
  pathOf,
  played,
} from './page-context.ts';
import type { PageForm } from './page-of.ts';

/** The largest part that a page of another service shows. */
const PART_MAX_BYTES = 64 * 1024;
const TOO_MANY = 429;

export async function show<Key extends string, Data>(
  context: PageContext<Key, Data>,
  call: Call,
): Promise<Answer> {
  const { headers, params, query } = call.request;
  const path = pathOf(context.of.path, params);
  const visit = await context.visits.open(headers);
  // Nothing is read before the sign-in. A person who only follows links learns nothing and costs no query.
  if (visit === undefined) {
    return redirected(signInAddress({ returnTo: path, tenant: query['in'] }));
  }
  const isElsewhere = query['in'] !== undefined && query['in'] !== visit.tenantId;
  // An open page polls for its parts, and a part has no frame, so nothing else is read.
  if (query['part'] !== undefined && !isElsewhere) return part(context, call, visit);
  if (isElsewhere) {
    const there = signInAddress({ returnTo: path, tenant: query['in'] });
    return answered(200, elsewherePage(await frameFor(context, visit, headers), there));
  }
  const form = query['form'] === undefined ? undefined : context.of.forms[query['form']];
  const [frame, answers, ways] = await Promise.all([
    frameFor(context, visit, headers),
    answersOf(context, call, visit),
    form === undefined ? undefined : waysFor(context, visit, form),
  ]);
  if (answers === 'gone') return NOTHING_SENT;
  if ('refusal' in answers) return unreadablePage({ frame, visit, path }, answers.refusal);
  const data = answers.data as Data;
  const shown = drawPage({ context, request: call.request, frame, visit, path, data, ways });
  return answered(200, shown, visit.cookies);
}

/** The methods to confirm the sign-in, before showing a form that requires a recent one. */
async function waysFor<Key extends string, Data>(
  { proofs, clock }: PageContext<Key, Data>,
  visit: Visit,
  form: PageForm<Key, Data>,
) {
  const stepUp = stepUpOf(form.endpoint.contract);
  const isDue = opensAlone(form) && stepUp !== 'none' && isOldSignIn(visit, clock.now());
  if (!isDue) return undefined;
  return (await proofs({ token: visit.cookie.token, withChallenge: false })).ways;
}

async function part<Key extends string, Data>(
  context: PageContext<Key, Data>,
  call: Call,
  visit: Visit,
): Promise<Answer> {
  const { part: name = '', form = '' } = call.request.query;
  switch (name) {
    case 'state':
      return stateOf(context, call, visit);
    case 'proof':
    case 'passkey': {
      const retryAfter = await context.admitForm(call.request.ip);
      if (retryAfter !== undefined) return answeredJson(TOO_MANY, '{}');
      return name === 'proof'
        ? proofChallenge(context, visit)
        : passkeyChallenge(context, call, { visit, form });
    }
    default:
      return fragment(context, call, visit);
  }
}

/** Waits until the shown data has changed, at most for the length of a long poll. */
async function stateOf<Key extends string, Data>(
  context: PageContext<Key, Data>,
  call: Call,
  visit: Visit,
): Promise<Answer> {
  const { changes, reads } = context.of;
  const endpoint = changes ?? Object.values(reads)[0]?.endpoint;
  if (endpoint === undefined) return answeredJson(404, '{}');
  const outcome = await played(context, call, { visit, endpoint });
  if (outcome === 'gone') return NOTHING_SENT;
  const status = 'refusal' in outcome ? outcome.refusal.status : 200;
  const state =
    'refusal' in outcome ? null : ((outcome.body as { status?: unknown }).status ?? null);
  return answeredJson(status, JSON.stringify({ state }), visit.cookies);
}

async function proofChallenge<Key extends string, Data>(
  { proofs }: PageContext<Key, Data>,
  visit: Visit,
): Promise<Answer> {
  const { challenge } = await proofs({ token: visit.cookie.token, withChallenge: true });
  return answeredJson(challenge === null ? 404 : 200, JSON.stringify(challenge), visit.cookies);
}

async function passkeyChallenge<Key extends string, Data>(
  context: PageContext<Key, Data>,
  call: Call,
  { visit, form }: { readonly visit: Visit; readonly form: string },
): Promise<Answer> {
  const endpoint = context.of.forms[form]?.passkey;
  if (endpoint === undefined) return answeredJson(404, '{}');
  const outcome = await played(context, call, { visit, endpoint });
  if (outcome === 'gone') return NOTHING_SENT;
  return 'refusal' in outcome
    ? answeredJson(outcome.refusal.status, '{}', visit.cookies)
    : answeredJson(200, JSON.stringify(outcome.body), visit.cookies);
}

/** The part of this page that a page of another service shows instead of a link. */
async function fragment<Key extends string, Data>(
  context: PageContext<Key, Data>,
  call: Call,
  visit: Visit,
): Promise<Answer> {
  const { headers, params, query } = call.request;
  const draw = context.of.parts?.[query['part'] ?? ''];
  if (draw === undefined) return answeredFragment(404, '');
  const [frame, answers] = await Promise.all([
    frameFor(context, visit, headers),
    answersOf(context, call, visit),
  ]);
  if (answers === 'gone') return NOTHING_SENT;
  if ('refusal' in answers) return answeredFragment(answers.refusal.status, '');
  const path = pathOf(context.of.path, params);
  const data = answers.data as Data;
  const { text } = draw(shownOf({ context, request: call.request, frame, visit, path, data }));
  return Buffer.byteLength(text) > PART_MAX_BYTES
    ? answeredFragment(413, '')
    : answeredFragment(200, text, visit.cookies);
}
