/**
 * The facts of a request on its page. Texts of other persons and of agents are shown as plain text and labelled as
 * theirs.
 */
import { readApproverSet } from '@cardea/contracts';
import { type Language, spanText, utcText } from '@cardea/mail';
import { type Fact, facts, html, type Markup, type Say as PageSay, tag } from '@cardea/pages';
import { cleaned } from '@cardea/runtime';
import type { ShownRequest } from '../requests/requests.module.ts';
import { detailsView } from './details-view.ts';
import { SEVERITY_TONES } from './parts.ts';
import type { TextKey } from './texts.ts';

type Say = PageSay<TextKey>;
type Reader = { readonly say: Say; readonly language: Language };

export const agentOf = ({ agent_name }: ShownRequest): string => cleaned(agent_name);

/** Shows every field with its name. Text from an agent is plain text and labelled as the agent's. */
export function requestFacts(data: ShownRequest, { say, language }: Reader): Markup {
  const { binding } = data;
  const list: readonly (Fact | undefined)[] = [
    { label: say('agent'), value: agentOf(data) },
    ...historyFacts(data, say),
    ...(data.access === undefined
      ? whatIsAsked(data, say)
      : accessFacts(data.access, { say, language })),
    binding === undefined
      ? undefined
      : {
          label: say('fields'),
          value: html`<ul>${binding.fields.map((name) => html`<li><code>${name}</code></li>`)}</ul>`,
        },
    policiesFact(data, say),
    {
      label: say('severity'),
      value: tag(SEVERITY_TONES[data.severity], say(`severity.${data.severity}`)),
    },
    ...actionFacts(data, say),
    ...setFacts(data, say),
    ...originFacts(data, say),
    ...wordsFacts(data, say),
    data.comment === undefined
      ? undefined
      : {
          label: say(data.status === 'denied' ? 'comment.denied' : 'comment.approved'),
          value: html`<q>${data.comment}</q>`,
        },
    secondFact(data, say),
    data.deputy_for === undefined
      ? undefined
      : { label: say('deputy_for'), value: data.deputy_for_name ?? data.deputy_for },
    { label: say('asked_at'), value: utcText(data.created_at) },
    { label: say('open_until'), value: utcText(data.expires_at) },
  ];
  return facts(list.filter((fact) => fact !== undefined));
}

/** Shows whether this is the agent's first request, or when one of its requests was last approved. */
function historyFacts(
  { first_request: isFirst, last_approved_at: at }: ShownRequest,
  say: Say,
): readonly Fact[] {
  if (isFirst === undefined) return [];
  const label = say('history');
  if (isFirst) return [{ label, value: say('history.first') }];
  const value =
    at === undefined || at === null
      ? say('history.none_approved')
      : say('history.approved', { time: utcText(at) });
  return [{ label, value }];
}

function policiesFact({ policies = [] }: ShownRequest, say: Say): Fact | undefined {
  if (policies.length === 0) return undefined;
  const value = html`<ul>${policies.map((name) => html`<li>${name}</li>`)}</ul>`;
  return { label: say('policies'), value };
}

const originFacts = ({ ip }: ShownRequest, say: Say): readonly Fact[] =>
  ip === undefined ? [] : [{ label: say('ip'), value: html`<code>${ip}</code>` }];

/**
 * The requester's words, shown once. The reason of a vend is a sentence of the server that repeats what the page shows
 * and ends with the purpose of the agent's session. So the page shows the whole reason only if it does not know the
 * lifetime of the grant, and otherwise only the purpose.
 */
function wordsFacts(data: ShownRequest, say: Say): readonly Fact[] {
  const { grant_ttl_seconds, purpose, reason } = data;
  const quoted = (label: string, text: string | undefined) =>
    text === undefined ? [] : [{ label, value: html`<q>${text}</q>` }];
  return grant_ttl_seconds === undefined && reason !== undefined
    ? quoted(say(`reason.${data.origin}`), reason)
    : quoted(say('purpose'), purpose);
}

/** Everything to which an approval of an action is bound. */
function actionFacts({ details, action_binding }: ShownRequest, say: Say): readonly Fact[] {
  const digest = action_binding?.action_digest;
  return [
    ...(details === undefined ? [] : [{ label: say('details'), value: detailsView(details) }]),
    ...(digest === undefined
      ? []
      : [{ label: say('digest'), value: html`<code class="whole">${digest}</code>` }]),
  ];
}

/** The action of a vend is always the same, so the service and the fields are shown instead. */
function whatIsAsked({ action, resource, binding }: ShownRequest, say: Say): readonly Fact[] {
  return [
    ...(binding === undefined ? [{ label: say('action'), value: action }] : []),
    ...(resource === undefined ? [] : [{ label: say('service'), value: resource }]),
  ];
}

type Access = NonNullable<ShownRequest['access']>;

/** Lists every service with every field, and the duration: the access that an administrator gives by approving. */
function accessFacts(access: Access, { say, language }: Reader): readonly Fact[] {
  const services = access.services.map(({ service_name, fields }) => ({
    label: say('access.service', { service: service_name }),
    value: html`<ul>${fields.map((name) => html`<li><code>${name}</code></li>`)}</ul>`,
  }));
  const time = spanText(access.duration_seconds, language);
  return [...services, { label: say('access.time'), value: time }];
}

/** Who else may decide, and how many decisions are needed. */
function setFacts({ approver, approvals, user_id }: ShownRequest, say: Say): readonly Fact[] {
  if (approver === undefined || approvals === undefined) return [];
  const { given, needed } = approvals;
  const who = { label: say('set'), value: html`<code>${user_id}</code>` };
  if (needed === 1) return [who];
  const count = say('set.count', { given: String(given), needed: String(needed) });
  return [who, { label: say('set.given'), value: count }];
}

/** A person is not shown by id, because people cannot recognize an id. */
function secondFact(
  { escalates_at: at, escalates_to: to }: ShownRequest,
  say: Say,
): Fact | undefined {
  if (at === undefined || to === undefined) return undefined;
  const label = say('escalates', { time: utcText(at) });
  const isSet = readApproverSet(to) !== undefined;
  return { label, value: isSet ? html`<code>${to}</code>` : say('escalates.person') };
}
