/** The page at which one request is decided (`docs/design/pages.md`, Deciding). */
import { readApproverSet } from '@cardea/contracts';
import { utcText } from '@cardea/mail';
import {
  type Fact,
  facts,
  html,
  type Markup,
  type PageBody,
  pagesOf,
  read,
  type Shown,
  tag,
} from '@cardea/pages';
import { cleaned } from '@cardea/runtime';
import type { RequestEndpoints, ShownRequest } from '../requests/requests.module.ts';
import { requestId } from '../requests/requests.module.ts';
import { detailsView } from './details-view.ts';
import { SEVERITY_TONES } from './parts.ts';
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
const TONES = { approved: 'good', denied: 'bad', expired: 'warn', pending: 'info' } as const;

/** The largest unit of which a time is a multiple describes it exactly. */
const SECONDS = { length: 1, one: 'time.second', many: 'time.seconds' } as const;
const UNITS = [
  { length: 86_400, one: 'time.day', many: 'time.days' },
  { length: 3_600, one: 'time.hour', many: 'time.hours' },
  { length: 60, one: 'time.minute', many: 'time.minutes' },
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
${factsOf(page)}<p>${effectOf(page)}</p>
<p role="timer" class="muted" data-left-ms="${leftMs}" data-over="${say('time.over')}">${say('time.left', { time: timeLeft(leftMs) })}</p>
<div class="ways"><section aria-labelledby="deny"><h2 id="deny">${say('deny.title')}</h2>${page.form('deny')}</section>
<section aria-labelledby="approve"><h2 id="approve">${say('approve.title')}</h2>${approval}</section></div>`,
    script: WATCH_SCRIPT,
  };
}

/** A sentence that describes the effect of an approval of this request. */
function effectOf({ frame: { say }, data: { request } }: Page): string {
  const { access, action_binding, binding } = request;
  if (access !== undefined) return say('access.effect', { time: spanOf(access, say) });
  if (binding !== undefined) return say('values');
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
<p>${tag(TONES[data.status], say(`state.${data.status}`))} ${endOf(page)}</p>
${factsOf(page)}`,
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

const agentOf = ({ agent_name }: ShownRequest): string => cleaned(agent_name);

/** Shows every field with its name. Text from an agent is plain text and labelled as the agent's. */
function factsOf({ frame, data: { request: data } }: Page): Markup {
  const { say } = frame;
  const { binding } = data;
  const list: readonly (Fact | undefined)[] = [
    { label: say('agent'), value: agentOf(data) },
    ...(data.access === undefined ? whatIsAsked(data, say) : accessFacts(data.access, say)),
    binding === undefined
      ? undefined
      : {
          label: say('fields'),
          value: html`<ul>${binding.fields.map((name) => html`<li><code>${name}</code></li>`)}</ul>`,
        },
    {
      label: say('severity'),
      value: tag(SEVERITY_TONES[data.severity], say(`severity.${data.severity}`)),
    },
    ...actionFacts(data, say),
    data.reason === undefined
      ? undefined
      : {
          label: say(`reason.${data.origin}`),
          value: html`<q>${data.reason}</q>`,
        },
    ...setFacts(data, say),
    data.comment === undefined
      ? undefined
      : {
          label: say(data.status === 'denied' ? 'comment.denied' : 'comment.approved'),
          value: html`<q>${data.comment}</q>`,
        },
    secondFact(data, say),
    data.deputy_for === undefined
      ? undefined
      : { label: say('deputy_for'), value: html`<code>${data.deputy_for}</code>` },
    { label: say('asked_at'), value: utcText(data.created_at) },
    { label: say('open_until'), value: utcText(data.expires_at) },
  ];
  return facts(list.filter((fact) => fact !== undefined));
}

/** Everything to which an approval of an action is bound. */
function actionFacts(
  { details, action_binding }: ShownRequest,
  say: Page['frame']['say'],
): readonly Fact[] {
  const digest = action_binding?.action_digest;
  return [
    ...(details === undefined ? [] : [{ label: say('details'), value: detailsView(details) }]),
    ...(digest === undefined
      ? []
      : [{ label: say('digest'), value: html`<code class="whole">${digest}</code>` }]),
  ];
}

function whatIsAsked(
  { action, resource }: ShownRequest,
  say: Page['frame']['say'],
): readonly Fact[] {
  const what = { label: say('action'), value: action };
  return resource === undefined ? [what] : [what, { label: say('service'), value: resource }];
}

type Access = NonNullable<ShownRequest['access']>;

/** Lists every service with every field, and the duration: the access that an administrator gives by approving. */
function accessFacts(access: Access, say: Page['frame']['say']): readonly Fact[] {
  const services = access.services.map(({ service_name, fields }) => ({
    label: say('access.service', { service: service_name }),
    value: html`<ul>${fields.map((name) => html`<li><code>${name}</code></li>`)}</ul>`,
  }));
  return [...services, { label: say('access.time'), value: spanOf(access, say) }];
}

const spanOf = ({ duration_seconds: seconds }: Access, say: Page['frame']['say']): string => {
  const unit = UNITS.find(({ length }) => seconds % length === 0) ?? SECONDS;
  return say(seconds === unit.length ? unit.one : unit.many, {
    count: String(seconds / unit.length),
  });
};

/** Without a code to compare, its field has no meaning. */
const without = ({ binding }: ShownRequest): readonly string[] =>
  binding?.number_match === true ? [] : ['binding_code'];

/** Who else may decide, and how many decisions are needed. */
function setFacts(
  { approver, approvals, user_id }: ShownRequest,
  say: Page['frame']['say'],
): readonly Fact[] {
  if (approver === undefined || approvals === undefined) return [];
  const { given, needed } = approvals;
  const who = { label: say('set'), value: html`<code>${user_id}</code>` };
  if (needed === 1) return [who];
  const count = say('set.count', { given: String(given), needed: String(needed) });
  return [who, { label: say('set.given'), value: count }];
}

/** A person is named by no id, which would tell nobody anything. */
function secondFact(
  { escalates_at: at, escalates_to: to }: ShownRequest,
  say: Page['frame']['say'],
): Fact | undefined {
  if (at === undefined || to === undefined) return undefined;
  const label = say('escalates', { time: utcText(at) });
  const isSet = readApproverSet(to) !== undefined;
  return { label, value: isSet ? html`<code>${to}</code>` : say('escalates.person') };
}

/** `4:59`, and from an hour on `167:59:59`, as the page's script counts on. */
const timeLeft = (ms: number): string => {
  const seconds = Math.floor(ms / 1_000);
  const two = (number: number) => String(Math.floor(number) % 60).padStart(2, '0');
  return seconds < 3_600
    ? `${Math.floor(seconds / 60)}:${two(seconds)}`
    : `${Math.floor(seconds / 3_600)}:${two(seconds / 60)}:${two(seconds)}`;
};
