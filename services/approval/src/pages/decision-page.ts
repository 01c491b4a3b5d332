/** The page at which one request is decided (`docs/design/pages.md`, Deciding). */
import type { Endpoint } from '@cardea/http';
import { utcText } from '@cardea/mail';
import {
  type Fact,
  facts,
  field,
  form,
  hidden,
  html,
  type Markup,
  NOTHING,
  type PageBody,
  type PageOf,
  type Shown,
  tag,
} from '@cardea/pages';
import { cleaned } from '@cardea/runtime';
import type { ShownRequest } from '../requests/requests.module.ts';
import { requestId } from '../requests/requests.module.ts';
import { atTheTop, SEVERITY_TONES } from './parts.ts';
import { WATCH_SCRIPT } from './scripts.ts';
import type { TextKey } from './texts.ts';

type Endpoints = {
  readonly get: Endpoint;
  readonly poll: Endpoint;
  readonly approve: Endpoint;
  readonly deny: Endpoint;
};
type Page = Shown<TextKey, ShownRequest>;

const MUTES = ['15', '60', '1440'] as const;
const TONES = { approved: 'good', denied: 'bad', expired: 'warn', pending: 'info' } as const;
const REASON_MAX_CHARS = 280;
const CODE_MAX_CHARS = 16;

export const decisionPage = ({
  get,
  poll,
  approve,
  deny,
}: Endpoints): PageOf<TextKey, ShownRequest> => ({
  name: 'decision_page',
  summary: 'Decide on a request',
  description: 'Shows a request to the person who decides it, with what it would release.',
  path: '/approve/{id}',
  params: requestId,
  reads: get,
  changes: poll,
  forms: {
    deny: { endpoint: deny, fields: ['reason', 'mute_agent_minutes'] },
    approve: { endpoint: approve, fields: ['binding_code'] },
  },
  view: (shown) => (isMine(shown) ? openRequest(shown) : endedRequest(shown)),
});

/** An administrator may read a request of somebody else, and decides nothing. */
const isMine = ({ data, userId }: Page): boolean =>
  data.status === 'pending' && data.user_id === userId;

function openRequest(page: Page): PageBody {
  const { frame, data, now } = page;
  const { say } = frame;
  const leftMs = Math.max(0, new Date(data.expires_at).getTime() - now.getTime());
  return {
    title: titleOf(page),
    width: 'form',
    body: html`${atTheTop(page, '/approve')}${factsOf(page)}<p>${say(data.binding === undefined ? 'no_secret' : 'values')}</p>
<p role="timer" class="muted" data-left-ms="${leftMs}" data-over="${say('time.over')}">${say('time.left', { time: minutes(leftMs) })}</p>
<div class="ways">${denyForm(page)}${approveForm(page)}</div>`,
    script: WATCH_SCRIPT,
  };
}

function endedRequest(page: Page): PageBody {
  const { frame, data } = page;
  const { say } = frame;
  return {
    title: say('title.decided', { agent: agentOf(data) }),
    width: 'form',
    body: html`${atTheTop(page, '/approve')}<p>${tag(TONES[data.status], say(`state.${data.status}`))} ${endOf(page)}</p>
${factsOf(page)}`,
  };
}

function endOf({ frame, data }: Page): string {
  const { say } = frame;
  const { binding } = data;
  switch (data.status) {
    case 'pending':
      return '';
    case 'approved':
      if (binding?.consumed === true) return say('end.used');
      return binding?.use_before === undefined
        ? say('end.approved')
        : say('end.approved_until', { time: utcText(binding.use_before) });
    case 'denied':
      return say('end.denied');
    case 'expired':
      return say('end.expired');
  }
}

function titleOf({ frame, data }: Page): string {
  const agent = agentOf(data);
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

/** Every field by its name, none folded; words of an agent are text, and said to be its own. */
function factsOf({ frame, data }: Page): Markup {
  const { say } = frame;
  const { binding } = data;
  const list: readonly (Fact | undefined)[] = [
    { label: say('agent'), value: agentOf(data) },
    { label: say('action'), value: data.action },
    data.resource === undefined ? undefined : { label: say('service'), value: data.resource },
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
    data.reason === undefined
      ? undefined
      : {
          label: say(`reason.${data.origin}`),
          value: html`<q>${data.reason}</q>`,
        },
    { label: say('asked_at'), value: utcText(data.created_at) },
    { label: say('open_until'), value: utcText(data.expires_at) },
  ];
  return facts(list.filter((fact) => fact !== undefined));
}

function denyForm({ frame, path, formToken, typed }: Page): Markup {
  const { say } = frame;
  const muted = typed['mute_agent_minutes'] ?? '';
  const options = MUTES.map(
    (minutesOf) =>
      html`<option value="${minutesOf}"${muted === minutesOf ? html` selected` : NOTHING}>${say(`deny.mute.${minutesOf}`)}</option>`,
  );
  return html`<section aria-labelledby="deny"><h2 id="deny">${say('deny.title')}</h2>
${form(
  path,
  hidden('form', 'deny'),
  hidden('form_token', formToken),
  field({
    name: 'reason',
    label: say('deny.reason'),
    autocomplete: 'off',
    value: typed['reason'],
    maxLength: REASON_MAX_CHARS,
    isOptional: true,
  }),
  html`<div class="field"><label for="mute">${say('deny.mute')}</label>
<select id="mute" name="mute_agent_minutes"><option value="">${say('deny.mute.none')}</option>${options}</select></div>
`,
  html`<button>${say('deny.submit')}</button>`,
)}</section>
`;
}

function approveForm({ frame, path, formToken, data, refused }: Page): Markup {
  const { say } = frame;
  const isAsked = data.binding?.number_match === true;
  const code = isAsked
    ? field({
        name: 'binding_code',
        label: say('approve.code'),
        hint: say('approve.code_hint'),
        autocomplete: 'one-time-code',
        isCode: 'digits',
        maxLength: CODE_MAX_CHARS,
        isInvalid: refused === 'binding_code_mismatch' || refused === 'binding_code_required',
      })
    : NOTHING;
  return html`<section aria-labelledby="approve"><h2 id="approve">${say('approve.title')}</h2>
${form(
  path,
  hidden('form', 'approve'),
  hidden('form_token', formToken),
  code,
  html`<button>${say('approve.submit')}</button>`,
)}</section>
`;
}

const minutes = (ms: number): string => {
  const seconds = Math.floor(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
};
