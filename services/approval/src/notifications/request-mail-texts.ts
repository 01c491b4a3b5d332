/**
 * The texts of mails about requests, besides the labels of facts, in each language. `{agent}` and `{count}` are
 * replaced.
 */
import type { Language } from '@cardea/mail';
import type { Origin } from '../requests/requests.module.ts';

export type RequestMailTexts = {
  /**
   * The sentence about the requester. A user must not mistake their own or an administrator's request for an agent's.
   */
  readonly asks: { readonly [origin in Origin]: string };
  readonly reason: { readonly [origin in Origin]: string };
  readonly subject: { readonly byAgent: string; readonly inItsName: string };
  readonly first: string;
  /**
   * The sentence of mails about an escalated request. Both approvers get it, because the mail to the first one may be
   * late.
   */
  readonly escalated: string;
  /** The sentence of a mail to a deputy. `{name}` is the person in whose place they decide. */
  readonly deputy: string;
  readonly code: string;
  readonly decide: string;
  readonly unexpected: string;
  readonly several: {
    readonly one: string;
    readonly many: string;
    readonly end: string;
    readonly show: string;
    readonly where: string;
  };
  /** The mail after too many wrong binding codes. */
  readonly blocked: {
    readonly subject: string;
    readonly why: string;
    readonly blockedUntil: string;
    readonly end: string;
  };
};

const EN: RequestMailTexts = {
  asks: {
    vend: '{agent} asks for your decision.',
    agent: '{agent} asks for your decision.',
    admin: 'An administrator asks for your decision in the name of {agent}.',
    self: 'You have asked yourself for this decision in the name of {agent}.',
  },
  reason: {
    vend: 'Reason',
    agent: 'The agent says',
    admin: 'The administrator says',
    self: 'You said',
  },
  subject: {
    byAgent: 'Approval requested by {agent}',
    inItsName: 'Approval requested in the name of {agent}',
  },
  first: 'It is the first request of this agent to you.',
  escalated: 'Nobody has decided it so far, so more people may now.',
  deputy: 'You are asked as the deputy of {name}.',
  code: 'Reference code',
  decide: 'Look at the request',
  unexpected: 'If you do not know what this is about, deny it or let it run out.',
  several: {
    one: '{count} more request waits',
    many: '{count} more requests wait',
    end: 'for your decision.',
    show: 'Show the requests',
    where: 'If you do not know what this is about, deny them or let them run out.',
  },
  blocked: {
    subject: 'Approving by code is blocked for a while',
    why: 'Too many wrong codes were entered for requests that wait for your approval, so no code of yours is taken for a while. Nothing was approved.',
    blockedUntil: 'Blocked until',
    end: 'If it was you, wait, or ask an administrator to unlock you; you can still deny requests. Otherwise somebody else may use your account: set a new password, which ends all sessions.',
  },
};

const DE: RequestMailTexts = {
  asks: {
    vend: '{agent} bittet um Ihre Entscheidung.',
    agent: '{agent} bittet um Ihre Entscheidung.',
    admin:
      'Eine Administratorin oder ein Administrator bittet im Namen von {agent} um Ihre Entscheidung.',
    self: 'Sie selbst haben im Namen von {agent} um diese Entscheidung gebeten.',
  },
  reason: {
    vend: 'Begründung',
    agent: 'Der Agent schreibt',
    admin: 'Die Administration schreibt',
    self: 'Sie schrieben',
  },
  subject: {
    byAgent: '{agent} bittet um eine Freigabe',
    inItsName: 'Im Namen von {agent} wird um eine Freigabe gebeten',
  },
  first: 'Es ist die erste Anfrage dieses Agenten an Sie.',
  escalated: 'Bisher hat niemand entschieden, deshalb dürfen es jetzt weitere Personen.',
  deputy: 'Sie werden in Vertretung von {name} gefragt.',
  code: 'Vergleichscode',
  decide: 'Anfrage ansehen',
  unexpected:
    'Wenn Sie nicht wissen, worum es geht, lehnen Sie die Anfrage ab oder lassen Sie sie verfallen.',
  several: {
    one: '{count} weitere Anfrage wartet',
    many: '{count} weitere Anfragen warten',
    end: 'auf Ihre Entscheidung.',
    show: 'Anfragen zeigen',
    where:
      'Wenn Sie nicht wissen, worum es geht, lehnen Sie die Anfragen ab oder lassen Sie sie verfallen.',
  },
  blocked: {
    subject: 'Freigeben per Code vorübergehend gesperrt',
    why: 'Zu viele falsche Codes wurden bei Anfragen eingegeben, die auf Ihre Freigabe warten. Deshalb wird eine Zeit lang kein Code von Ihnen angenommen. Es wurde nichts freigegeben.',
    blockedUntil: 'Gesperrt bis',
    end: 'Wenn Sie es waren, warten Sie oder bitten Sie die Administration, Sie zu entsperren; ablehnen können Sie weiterhin. Andernfalls benutzt vielleicht jemand anderes Ihr Konto: Legen Sie ein neues Passwort fest. Das beendet alle Sitzungen.',
  },
};

export const REQUEST_MAIL_TEXTS: { readonly [language in Language]: RequestMailTexts } = {
  en: EN,
  de: DE,
};
