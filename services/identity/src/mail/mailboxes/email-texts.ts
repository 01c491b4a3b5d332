/** What the mails say, in each language of the pages. */
import type { MailPurpose } from '@cardea/contracts';
import type { Language } from '@cardea/mail';

export type MailParts = {
  readonly subject: string;
  /** Why it came, in one sentence. */
  readonly why: string;
  /** On the button, or before a code; empty for mails that have neither. */
  readonly call: string;
  /** What there is to know, and what to do if it was not the reader. */
  readonly end: string;
};
export type MailTexts = {
  /** Before the secret of a link, for a page whose address came without it. */
  readonly paste: string;
  /** Before a code that does the same as the link, at the page that waits for it. */
  readonly type: string;
  readonly facts: { readonly [fact in FactName]: string };
  readonly of: { readonly [purpose in Exclude<MailPurpose, 'security_notice'>]: MailParts };
};
export type FactName =
  | 'address'
  | 'device'
  | 'inviter'
  | 'organization'
  | 'place'
  | 'time'
  | 'until';

const EN: MailTexts = {
  paste: 'If the page asks for the link, paste this code there',
  type: 'Or type this code at the page where you asked for this mail, and give it to nobody',
  facts: {
    address: 'Address',
    device: 'Device',
    inviter: 'Invited by',
    organization: 'Organization',
    place: 'Place',
    time: 'Time',
    until: 'Valid until',
  },
  of: {
    verify: {
      subject: 'Confirm your e-mail address',
      why: 'An account was made with this address. Please confirm that it is yours.',
      call: 'Confirm the address',
      end: 'The link works once. If you did not ask for it, do nothing.',
    },
    reset: {
      subject: 'Set a new password',
      why: 'Somebody asked for a new password for the account with this address.',
      call: 'Choose a new password',
      end: 'The link works once. If you did not ask for it, do nothing: your password stays as it is.',
    },
    magic_link: {
      subject: 'Sign in',
      why: 'Somebody asked for a link to sign in with this address.',
      call: 'Sign in',
      end: 'The link works once. If you did not ask for it, do nothing.',
    },
    otp: {
      subject: 'Your code to sign in',
      why: 'Somebody asked for a code to sign in with this address.',
      call: 'Your code',
      end: 'The code works once. Give it to nobody. If you did not ask for it, do nothing.',
    },
    invitation: {
      subject: 'You are invited',
      why: 'You are invited to an account with this address.',
      call: 'Accept the invitation',
      end: 'The link works once. If you do not know who invites you, do nothing.',
    },
    notice: {
      subject: 'You already have an account',
      why: 'Somebody tried to register with this address, which already has an account.',
      call: '',
      end: 'If it was you, sign in, or ask for a new password. Otherwise do nothing.',
    },
    new_device: {
      subject: 'New sign-in to your account',
      why: 'Somebody signed in to your account with a device or from a place that it was not used from before.',
      call: '',
      end: 'If it was you, do nothing. Otherwise set a new password, which ends all sessions.',
    },
    sign_in_blocked: {
      subject: 'Sign-in to your account is blocked for a while',
      why: 'Too many attempts to sign in to your account failed, so it is blocked for a while. Your account is unchanged.',
      call: '',
      end: 'To sign in sooner, use a passkey, or ask for a link or a new password by mail.',
    },
  },
};

const DE: MailTexts = {
  paste: 'Wenn die Seite nach dem Link fragt, fügen Sie dort diesen Code ein',
  type: 'Oder geben Sie diesen Code auf der Seite ein, auf der Sie diese E-Mail angefordert haben, und sonst niemandem',
  facts: {
    address: 'Adresse',
    device: 'Gerät',
    inviter: 'Eingeladen von',
    organization: 'Organisation',
    place: 'Ort',
    time: 'Zeit',
    until: 'Gültig bis',
  },
  of: {
    verify: {
      subject: 'Bestätigen Sie Ihre E-Mail-Adresse',
      why: 'Mit dieser Adresse wurde ein Konto angelegt. Bitte bestätigen Sie, dass sie Ihnen gehört.',
      call: 'Adresse bestätigen',
      end: 'Der Link funktioniert einmal. Wenn Sie ihn nicht angefordert haben, müssen Sie nichts tun.',
    },
    reset: {
      subject: 'Neues Passwort festlegen',
      why: 'Jemand hat für das Konto mit dieser Adresse ein neues Passwort angefordert.',
      call: 'Neues Passwort wählen',
      end: 'Der Link funktioniert einmal. Wenn Sie ihn nicht angefordert haben, müssen Sie nichts tun: Ihr Passwort bleibt, wie es ist.',
    },
    magic_link: {
      subject: 'Anmelden',
      why: 'Jemand hat einen Link angefordert, um sich mit dieser Adresse anzumelden.',
      call: 'Jetzt anmelden',
      end: 'Der Link funktioniert einmal. Wenn Sie ihn nicht angefordert haben, müssen Sie nichts tun.',
    },
    otp: {
      subject: 'Ihr Code zum Anmelden',
      why: 'Jemand hat einen Code angefordert, um sich mit dieser Adresse anzumelden.',
      call: 'Ihr Code',
      end: 'Der Code funktioniert einmal. Geben Sie ihn niemandem. Wenn Sie ihn nicht angefordert haben, müssen Sie nichts tun.',
    },
    invitation: {
      subject: 'Sie sind eingeladen',
      why: 'Sie sind zu einem Konto mit dieser Adresse eingeladen.',
      call: 'Einladung annehmen',
      end: 'Der Link funktioniert einmal. Wenn Sie nicht wissen, wer Sie einlädt, müssen Sie nichts tun.',
    },
    notice: {
      subject: 'Sie haben bereits ein Konto',
      why: 'Jemand wollte sich mit dieser Adresse registrieren, zu der es bereits ein Konto gibt.',
      call: '',
      end: 'Wenn Sie es waren, melden Sie sich an oder fordern Sie ein neues Passwort an. Andernfalls müssen Sie nichts tun.',
    },
    new_device: {
      subject: 'Neue Anmeldung bei Ihrem Konto',
      why: 'Jemand hat sich bei Ihrem Konto angemeldet, mit einem Gerät oder an einem Ort, von dem es bisher nicht benutzt wurde.',
      call: '',
      end: 'Wenn Sie es waren, müssen Sie nichts tun. Legen Sie andernfalls ein neues Passwort fest: Das beendet alle Sitzungen.',
    },
    sign_in_blocked: {
      subject: 'Anmeldung bei Ihrem Konto vorübergehend gesperrt',
      why: 'Zu viele Versuche, sich bei Ihrem Konto anzumelden, sind fehlgeschlagen. Deshalb ist die Anmeldung eine Zeit lang gesperrt. An Ihrem Konto hat sich nichts geändert.',
      call: '',
      end: 'Wenn Sie sich früher anmelden möchten, verwenden Sie einen Passkey oder fordern Sie per E-Mail einen Link oder ein neues Passwort an.',
    },
  },
};

export const MAIL_TEXTS: { readonly [language in Language]: MailTexts } = { en: EN, de: DE };
