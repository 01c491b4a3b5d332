/**
 * The mails to a person and to their deputy when a deputyship is set and when it ends. Names of other people never
 * become links.
 */
import {
  type Fact,
  framedMail,
  type Language,
  type MailText,
  untrustedText,
  utcText,
} from '@cardea/mail';
import type { DeputyNotice } from '../deputies/deputies.module.ts';
import type { MailLook } from '../requests/requests.module.ts';
import { filled } from './request-mail.ts';

type Texts = {
  readonly [kind in DeputyNotice['kind']]: {
    readonly [to in DeputyNotice['to']]: { readonly subject: string; readonly why: string };
  };
} & {
  readonly from: string;
  readonly until: string;
  readonly show: { readonly [to in DeputyNotice['to']]: string };
  readonly end: { readonly [to in DeputyNotice['to']]: string };
};

const EN: Texts = {
  named: {
    person: {
      subject: 'You have a deputy for approvals',
      why: '{name} decides in your place about what is asked of you in this time. What waits already stays with you.',
    },
    deputy: {
      subject: 'You are a deputy for approvals',
      why: '{name} has named you to decide in their place about what is asked of them in this time.',
    },
  },
  ended: {
    person: {
      subject: 'You have no deputy for approvals any more',
      why: '{name} no longer decides in your place. What is asked of you from now on comes to you.',
    },
    deputy: {
      subject: 'You are no deputy for approvals any more',
      why: 'You no longer decide in the place of {name}. What you were asked meanwhile still waits for you.',
    },
  },
  from: 'From',
  until: 'Until',
  show: { person: 'Show my deputy', deputy: 'Show what waits' },
  end: {
    person:
      'If it was neither you nor an administrator, somebody else may use your account: set a new password, which ends all sessions.',
    deputy: 'If you do not want this, ask that person or an administrator to end it.',
  },
};

const DE: Texts = {
  named: {
    person: {
      subject: 'Sie haben eine Vertretung für Freigaben',
      why: '{name} entscheidet an Ihrer Stelle über alles, was Sie in dieser Zeit gefragt werden. Was schon wartet, bleibt bei Ihnen.',
    },
    deputy: {
      subject: 'Sie vertreten jemanden bei Freigaben',
      why: '{name} hat Sie bestimmt, an seiner oder ihrer Stelle über Anfragen in dieser Zeit zu entscheiden.',
    },
  },
  ended: {
    person: {
      subject: 'Sie haben keine Vertretung für Freigaben mehr',
      why: '{name} entscheidet nicht mehr an Ihrer Stelle. Was Sie ab jetzt gefragt werden, kommt zu Ihnen.',
    },
    deputy: {
      subject: 'Sie vertreten bei Freigaben niemanden mehr',
      why: 'Sie entscheiden nicht mehr an der Stelle von {name}. Was Sie inzwischen gefragt wurden, wartet weiter auf Sie.',
    },
  },
  from: 'Von',
  until: 'Bis',
  show: { person: 'Meine Vertretung zeigen', deputy: 'Zeigen, was wartet' },
  end: {
    person:
      'Wenn das weder Sie noch die Administration waren, benutzt vielleicht jemand anderes Ihr Konto: Legen Sie ein neues Passwort fest. Das beendet alle Sitzungen.',
    deputy:
      'Wenn Sie das nicht möchten, bitten Sie diese Person oder die Administration, es zu beenden.',
  },
};

const TEXTS: { readonly [language in Language]: Texts } = { en: EN, de: DE };

export function mailOfDeputy(
  { kind, to, from, until }: DeputyNotice,
  of: { readonly name: string; readonly page: string; readonly look: MailLook },
): MailText {
  const { language, brand } = of.look;
  const texts = TEXTS[language];
  const { subject, why } = texts[kind][to];
  const facts: readonly Fact[] = [
    [texts.from, from === null ? '' : utcText(from)],
    [texts.until, until === null ? '' : utcText(until)],
  ];
  const content = {
    subject,
    why: filled(why, { name: untrustedText(of.name) }),
    facts,
    button: { label: texts.show[to], link: of.page },
    end: texts.end[to],
  };
  return framedMail(content, brand, language);
}
