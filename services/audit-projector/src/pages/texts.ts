/** The texts of the page with what the audit log says about a person, in each language. */
import { catalogue } from '@cardea/pages';

const EN = {
  title: 'Your activity',
  lead: 'What was recorded about you: what you did, what agents did for you, and what others did with your account.',
  caption: 'What was recorded about you',
  time: 'When',
  what: 'What',
  result: 'Result',
  'result.success': 'done',
  'result.failure': 'failed',
  'result.denied': 'denied',
  who: 'Who',
  'who.you': 'you',
  'who.agent': 'an agent',
  'who.user': 'another person',
  'who.admin': 'an administrator',
  'who.system': 'the system',
  where: 'From',
  'category.auth': 'Sign-in and account',
  'category.agent': 'Agents',
  'category.admin': 'Administration',
  'category.credential': 'Secrets',
  'category.authorization': 'Decisions',
  'category.fga': 'Permissions',
  'category.vault': 'Vault',
  none: 'Nothing is recorded about you yet. What you do appears here.',
  all: 'All of it',
} as const;

export type TextKey = keyof typeof EN;

const DE: { readonly [key in TextKey]: string } = {
  title: 'Was geschehen ist',
  lead: 'Was über Sie aufgezeichnet wurde: was Sie getan haben, was Agenten für Sie getan haben und was andere mit Ihrem Konto getan haben.',
  caption: 'Was über Sie aufgezeichnet wurde',
  time: 'Wann',
  what: 'Was',
  result: 'Ergebnis',
  'result.success': 'geschehen',
  'result.failure': 'gescheitert',
  'result.denied': 'abgelehnt',
  who: 'Wer',
  'who.you': 'Sie',
  'who.agent': 'ein Agent',
  'who.user': 'eine andere Person',
  'who.admin': 'die Administration',
  'who.system': 'das System',
  where: 'Von',
  'category.auth': 'Anmeldung und Konto',
  'category.agent': 'Agenten',
  'category.admin': 'Administration',
  'category.credential': 'Geheimnisse',
  'category.authorization': 'Entscheidungen',
  'category.fga': 'Rechte',
  'category.vault': 'Tresor',
  none: 'Noch ist nichts über Sie aufgezeichnet. Was Sie tun, erscheint hier.',
  all: 'Alles zeigen',
};

export const TEXTS = catalogue<TextKey>({ en: EN, de: DE });
