/** The texts of the page with the secrets that agents got for a person, in each language. */
import { catalogue } from '@cardea/pages';

const EN = {
  title: 'Secrets that agents got for you',
  lead: 'Each row is a secret of a service that an agent got in your name. Values are not shown.',
  caption: 'Secrets that agents got for you',
  service: 'Service',
  fields: 'Fields',
  agent: 'Agent',
  status: 'State',
  'status.active': 'can be used',
  'status.superseded': 'replaced',
  'status.revoked': 'taken back',
  'status.expired': 'over',
  granted: 'Got',
  until: 'Until',
  none: 'No agent got a secret for you yet. Agents get them in sessions that they start for you.',
  all: 'All of them',
} as const;

export type TextKey = keyof typeof EN;

const DE: { readonly [key in TextKey]: string } = {
  title: 'Geheimnisse, die Agenten für Sie bekamen',
  lead: 'Jede Zeile ist ein Geheimnis eines Dienstes, das ein Agent in Ihrem Namen bekam. Werte werden nicht gezeigt.',
  caption: 'Geheimnisse, die Agenten für Sie bekamen',
  service: 'Dienst',
  fields: 'Felder',
  agent: 'Agent',
  status: 'Stand',
  'status.active': 'benutzbar',
  'status.superseded': 'ersetzt',
  'status.revoked': 'zurückgenommen',
  'status.expired': 'abgelaufen',
  granted: 'Bekommen',
  until: 'Bis',
  none: 'Noch hat kein Agent ein Geheimnis für Sie bekommen. Agenten bekommen sie in Sitzungen, die sie für Sie beginnen.',
  all: 'Alle zeigen',
};

export const TEXTS = catalogue<TextKey>({ en: EN, de: DE });
