/** The labels that mails and channel messages give the facts of a request, in each language. */
import { type Language, spanText } from '@cardea/mail';
import type { Severity } from './approval-requests/request.ts';

type RequestLabels = {
  readonly action: string;
  readonly service: string;
  readonly fields: string;
  readonly severity: string;
  readonly severities: { readonly [severity in Severity]: string };
  readonly openUntil: string;
  readonly released: string;
  /** `{time}` is a length of time. */
  readonly atMost: string;
};

export const REQUEST_LABELS: { readonly [language in Language]: RequestLabels } = {
  en: {
    action: 'Action',
    service: 'Service',
    fields: 'Fields',
    severity: 'Severity',
    severities: { low: 'low', medium: 'medium', high: 'high' },
    openUntil: 'Open until',
    released: 'Released for',
    atMost: 'at most {time}',
  },
  de: {
    action: 'Aktion',
    service: 'Dienst',
    fields: 'Felder',
    severity: 'Tragweite',
    severities: { low: 'niedrig', medium: 'mittel', high: 'hoch' },
    openUntil: 'Offen bis',
    released: 'Freigegeben für',
    atMost: 'höchstens {time}',
  },
};

/** How long the values of a vend can be used. */
export function releasedFact(
  seconds: number,
  language: Language,
): readonly [label: string, value: string] {
  const { released, atMost } = REQUEST_LABELS[language];
  return [released, atMost.replace('{time}', () => spanText(seconds, language))];
}
