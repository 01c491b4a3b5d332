/**
 * The content of a channel message: the requester, the action, who decides until when, and the link. It contains no
 * reason, no code, no value and no button that decides. Text from agents and users is cleaned and truncated here, and
 * escaped by each format.
 */
import { type Language, utcText } from '@cardea/mail';
import { cleaned, cut } from '@cardea/runtime';
import {
  REQUEST_LABELS,
  type RequestFacts,
  releasedFact,
  type Severity,
} from '../../requests/requests.module.ts';
import { CHANNEL_TEXTS } from './channel-texts.ts';

const NAME_CHARS_MAX = 60;
const VALUE_CHARS_MAX = 200;
const FIELDS_CHARS_MAX = 600;

export type ChannelMessage = {
  /** Contains only our own text, because some programs interpret markup and mentions in it. */
  readonly summary: string;
  /** May contain the name of an agent. */
  readonly title: string;
  readonly facts: readonly (readonly [label: string, value: string])[];
  readonly link: { readonly label: string; readonly url: string };
  readonly severity: Severity;
};

const value = (text: string) => cut(cleaned(text), VALUE_CHARS_MAX);

export function messageOfRequest(
  facts: RequestFacts,
  of: {
    readonly language: Language;
    readonly person: string;
    /** The second approver, after the request was escalated. */
    readonly second?: string | undefined;
    readonly page: string;
  },
): ChannelMessage {
  const { language } = of;
  const texts = CHANNEL_TEXTS[language];
  const labels = REQUEST_LABELS[language];
  const second: ChannelMessage['facts'] =
    of.second === undefined ? [] : [[texts.escalated, value(of.second)]];
  const { access, binding } = facts;
  const agent = cut(cleaned(facts.agent_name), NAME_CHARS_MAX);
  const what: ChannelMessage['facts'] =
    binding === undefined
      ? [
          [labels.action, value(facts.action)],
          ...(facts.resource === undefined
            ? []
            : [[texts.resource, value(facts.resource)] as const]),
          ...(access === undefined ? [] : [[labels.fields, fieldsIn(access)] as const]),
        ]
      : [
          [labels.service, value(binding.service_name)],
          [labels.fields, cut(binding.fields.map(cleaned).join(', '), FIELDS_CHARS_MAX)],
          ...releasedFacts(binding, language),
        ];
  return {
    summary: texts.summary,
    title: texts.asks[facts.origin].replace('{agent}', () => agent),
    facts: [
      ...what,
      [labels.severity, labels.severities[facts.severity]],
      [texts.person, value(of.person)],
      ...second,
      [labels.openUntil, utcText(facts.expires_at)],
    ],
    link: { label: texts.show, url: of.page },
    severity: facts.severity,
  };
}

const releasedFacts = (
  { grant_ttl_seconds: seconds }: NonNullable<RequestFacts['binding']>,
  language: Language,
): ChannelMessage['facts'] => (seconds === undefined ? [] : [releasedFact(seconds, language)]);

/** Lists the fields, each with its service. */
function fieldsIn({ services }: NonNullable<RequestFacts['access']>): string {
  const all = services.flatMap(({ service_name, fields }) =>
    fields.map((name) => `${service_name}.${name}`),
  );
  return cut(all.join(', '), FIELDS_CHARS_MAX);
}

/** `count` is a text, because it may end in a plus. */
export function messageOfSeveral(
  count: string,
  of: { readonly language: Language; readonly page: string },
): ChannelMessage {
  const texts = CHANNEL_TEXTS[of.language];
  return {
    summary: texts.summary,
    title: texts.several.replace('{count}', count),
    facts: [],
    link: { label: texts.showAll, url: of.page },
    severity: 'medium',
  };
}

export function messageOfTest(
  name: string,
  of: { readonly language: Language; readonly page: string },
): ChannelMessage {
  const texts = CHANNEL_TEXTS[of.language];
  return {
    summary: texts.test,
    title: texts.test,
    facts: [[texts.channel, cut(cleaned(name), VALUE_CHARS_MAX)]],
    link: { label: texts.showAll, url: of.page },
    severity: 'low',
  };
}
