/** The texts of channel messages, in each language. `{agent}` and `{count}` are replaced. */
import type { Language } from '@cardea/mail';
import type { Origin, Severity } from '../../requests/requests.module.ts';

type ChannelTexts = {
  readonly summary: string;
  /** The sentence about the requester. A user's or an administrator's request must not look like an agent's. */
  readonly asks: { readonly [origin in Origin]: string };
  readonly severities: { readonly [severity in Severity]: string };
  readonly action: string;
  readonly resource: string;
  readonly service: string;
  readonly fields: string;
  readonly severity: string;
  readonly person: string;
  /** A second addressee, once nobody had decided in time. */
  readonly escalated: string;
  readonly openUntil: string;
  /** How long the values of a vend can be used. `{time}` is a length of time. */
  readonly released: string;
  readonly atMost: string;
  readonly show: string;
  readonly showAll: string;
  readonly several: string;
  readonly test: string;
  readonly channel: string;
};

const EN: ChannelTexts = {
  summary: 'A request waits for a decision.',
  asks: {
    vend: '{agent} asks for a decision',
    agent: '{agent} asks for a decision',
    admin: 'An administrator asks for a decision in the name of {agent}',
    self: 'A user asks themselves for a decision in the name of {agent}',
  },
  severities: { low: 'low', medium: 'medium', high: 'high' },
  action: 'Action',
  resource: 'Resource',
  service: 'Service',
  fields: 'Fields',
  severity: 'Severity',
  person: 'Who decides',
  escalated: 'Undecided so far, so now also',
  openUntil: 'Open until',
  released: 'Released for',
  atMost: 'at most {time}',
  show: 'Look at the request',
  showAll: 'Show the requests',
  several: '{count} more requests wait for a decision',
  test: 'Test message: requests for approval arrive here',
  channel: 'Channel',
};

const DE: ChannelTexts = {
  summary: 'Eine Anfrage wartet auf eine Entscheidung.',
  asks: {
    vend: '{agent} bittet um eine Entscheidung',
    agent: '{agent} bittet um eine Entscheidung',
    admin: 'Die Administration bittet im Namen von {agent} um eine Entscheidung',
    self: 'Jemand bittet sich selbst im Namen von {agent} um eine Entscheidung',
  },
  severities: { low: 'gering', medium: 'mittel', high: 'hoch' },
  action: 'Aktion',
  resource: 'Ressource',
  service: 'Dienst',
  fields: 'Felder',
  severity: 'Tragweite',
  person: 'Wer entscheidet',
  escalated: 'Bisher unentschieden, deshalb nun auch',
  openUntil: 'Offen bis',
  released: 'Freigegeben für',
  atMost: 'höchstens {time}',
  show: 'Anfrage ansehen',
  showAll: 'Anfragen ansehen',
  several: '{count} weitere Anfragen warten auf eine Entscheidung',
  test: 'Testnachricht: Anfragen erscheinen hier',
  channel: 'Kanal',
};

export const CHANNEL_TEXTS: { readonly [language in Language]: ChannelTexts } = { en: EN, de: DE };
