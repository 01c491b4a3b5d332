/** The page at which one request is decided (`docs/design/pages.md`, Deciding). */
import { spanText, utcText } from '@cardea/mail';
import { html, type PageBody, pagesOf, read, type Shown, tag } from '@cardea/pages';
import type { RequestEndpoints, ShownRequest } from '../requests/requests.module.ts';
import { requestId } from '../requests/requests.module.ts';
import { agentOf, requestFacts } from './decision-facts.ts';
import { STATE_TONES } from './parts.ts';
import { WATCH_SCRIPT } from './scripts.ts';
import { TEXTS, type TextKey } from './texts.ts';

type Endpoints = Pick<RequestEndpoints, 'approve' | 'deny' | 'get' | 'poll'>;
type Data = { readonly request: ShownRequest };
type Page = Shown<TextKey, Data>;
type Decision = NonNullable<ShownRequest['allowed_decisions']>[number];

const MUTES = [
  { value: '', label: 'deny.mute.none' },
  { value: '15', label: 'deny.mute.15' },
  { value: '60', label: 'deny.mute.60' },
  { value: '1440', label: 'deny.mute.1440' },
] as const;

const { pageOf, formOf } = pagesOf(TEXTS);

export const decisionPage = ({ get, poll, approve, deny }: Endpoints) =>
  pageOf({
    name: 'decision_page',
    summary: 'Decide on a request',
    description: 'Shows a request to the person who decides it, with what it would release.',
    path: '/approve/{id}',
    params: requestId,
    reads: { request: read(get) },
    changes: poll,
    forms: {
      deny: formOf(deny, {
        title: 'deny.title',
        submit: 'deny.submit',
        isOffered: ({ request }: Data) => isAllowed(request, 'deny'),
        fields: [
          { name: 'reason', label: 'deny.reason' },
          { name: 'mute_agent_minutes', label: 'deny.mute', options: MUTES },
        ],
      }),
      approve: formOf(approve, {
        title: 'approve.title',
        submit: 'approve.submit',
        refusedAt: {
          binding_code_required: 'binding_code',
          binding_code_mismatch: 'binding_code',
        },
        isOffered: ({ request }: Data) => isAllowed(request, 'approve'),
        fields: [
          {
            name: 'binding_code',
            label: 'approve.code',
            help: 'approve.code_hint',
            kind: 'digits',
          },
          { name: 'comment', label: 'approve.comment' },
        ],
      }),
    },
    view: (shown) =>
      isAllowed(shown.data.request, 'deny') ? openRequest(shown) : closedRequest(shown),
  });

/** Whether the viewer could make this decision now. The endpoint decides that by the rules of the decision itself. */
const isAllowed = ({ allowed_decisions: allowed = [] }: ShownRequest, decision: Decision) =>
  allowed.includes(decision);

/** Why an approval of the viewer would be refused. Empty if it would not, or if the request is over. */
function whyNotApprove({ frame: { say }, data: { request } }: Page): string {
  const { approve_refusal: code, status } = request;
  if (status !== 'pending' || isAllowed(request, 'approve')) return '';
  switch (code) {
    case 'already_given':
    case 'approver_not_vouched':
    case 'approver_excluded':
    case 'approver_not_admin':
      return say(`refused.${code}`);
    default:
      return say('not_yours');
  }
}

function openRequest(page: Page): PageBody {
  const { frame, now } = page;
  const { request } = page.data;
  const { say } = frame;
  const approval = isAllowed(request, 'approve')
    ? page.form('approve', { without: without(request) })
    : html`<p>${whyNotApprove(page)}</p>`;
  const leftMs = Math.max(0, new Date(request.expires_at).getTime() - now.getTime());
  return {
    title: titleOf(page),
    width: 'form',
    body: html`<p><a href="/approve">${say('all')}</a></p>
${requestFacts(request, frame)}<p>${effectOf(page)}</p>
<p role="timer" class="muted" data-left-ms="${leftMs}" data-over="${say('time.over')}">${say('time.left', { time: timeLeft(leftMs) })}</p>
<div class="ways"><section aria-labelledby="deny"><h2 id="deny">${say('deny.title')}</h2>${page.form('deny')}</section>
<section aria-labelledby="approve"><h2 id="approve">${say('approve.title')}</h2>${approval}</section></div>`,
    script: WATCH_SCRIPT,
  };
}

/** A sentence that describes the effect of an approval of this request. */
function effectOf({ frame: { say, language }, data: { request } }: Page): string {
  const { access, action_binding, binding, grant_ttl_seconds: seconds } = request;
  if (access !== undefined) {
    return say('access.effect', { time: spanText(access.duration_seconds, language) });
  }
  if (binding !== undefined) {
    // Requests of earlier releases do not contain the lifetime of a grant.
    return seconds === undefined
      ? say('values')
      : say('values.at_most', { time: spanText(seconds, language) });
  }
  return say(action_binding === undefined ? 'no_secret' : 'once');
}

/** A request that is over, or that its viewer may read but not decide. */
function closedRequest(page: Page): PageBody {
  const {
    frame,
    data: { request: data },
  } = page;
  const { say } = frame;
  return {
    title: say('title.decided', { agent: agentOf(data) }),
    width: 'form',
    body: html`<p><a href="/approve">${say('all')}</a></p>
<p>${tag(STATE_TONES[data.status], say(`state.${data.status}`))} ${endOf(page)}</p>
${requestFacts(data, frame)}`,
  };
}

function endOf(page: Page): string {
  const {
    frame: { say },
    data: { request: data },
  } = page;
  const use = data.binding ?? data.action_binding;
  switch (data.status) {
    case 'pending':
      return whyNotApprove(page);
    case 'approved':
      if (use?.consumed === true) return say('end.used');
      return use?.use_before === undefined
        ? say(data.access === undefined ? 'end.approved' : 'access.given')
        : say('end.approved_until', { time: utcText(use.use_before) });
    case 'denied':
      return say('end.denied');
    case 'expired':
      return say('end.expired');
  }
}

function titleOf({ frame, data: { request: data } }: Page): string {
  const agent = agentOf(data);
  if (data.access !== undefined) return frame.say('title.access', { agent });
  switch (data.origin) {
    case 'admin':
      return frame.say('title.admin', { agent });
    case 'self':
      return frame.say('title.self', { agent });
    default:
      return frame.say('title.pending', { agent });
  }
}

/** The fields that the form leaves out: the field for the code, if there is no code to compare. */
const without = ({ binding }: ShownRequest): readonly string[] =>
  binding?.number_match === true ? [] : ['binding_code'];

/** Formats the time as `4:59`, and from an hour on as `167:59:59`, like the page's script. */
const timeLeft = (ms: number): string => {
  const seconds = Math.floor(ms / 1_000);
  const two = (number: number) => String(Math.floor(number) % 60).padStart(2, '0');
  return seconds < 3_600
    ? `${Math.floor(seconds / 60)}:${two(seconds)}`
    : `${Math.floor(seconds / 3_600)}:${two(seconds / 60)}:${two(seconds)}`;
};
