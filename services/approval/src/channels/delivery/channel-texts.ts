/**
 * The texts of channel messages, besides the labels of facts, in each language. `{agent}` and `{count}` are replaced.
 */
import type { Language } from '@cardea/mail';
import type { Origin } from '../../requests/requests.module.ts';

type ChannelTexts = {
  readonly summary: string;
  /** The sentence about the requester. A user's or an administrator's request must not look like an agent's. */
  readonly asks: { readonly [origin in Origin]: string };
  readonly resource: string;
  readonly person: string;
  /** The word for an approver without a display name, because an id would mean nothing to people. */
  readonly nameless: string;
  /** The sentence about a second approver, who may decide because nobody had decided in time. */
  readonly escalated: string;
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
  resource: 'Resource',
  person: 'Who decides',
  nameless: 'a person without a name',
  escalated: 'Undecided so far, so now also',
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
  resource: 'Ressource',
  person: 'Wer entscheidet',
  nameless: 'eine Person ohne Namen',
  escalated: 'Bisher unentschieden, deshalb nun auch',
  show: 'Anfrage ansehen',
  showAll: 'Anfragen ansehen',
  several: '{count} weitere Anfragen warten auf eine Entscheidung',
  test: 'Testnachricht: Anfragen erscheinen hier',
  channel: 'Kanal',
};

export const CHANNEL_TEXTS: { readonly [language in Language]: ChannelTexts } = { en: EN, de: DE };
