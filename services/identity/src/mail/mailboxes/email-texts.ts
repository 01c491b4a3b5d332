/** The texts of the mails, in each language of the pages. */
import type { MailPurpose } from '@cardea/contracts';
import type { Language } from '@cardea/mail';

export type MailParts = {
  readonly subject: string;
  /** One sentence: why the mail was sent. */
  readonly why: string;
  /** The text of the button or before a code. Empty for mails with neither. */
  readonly call: string;
  /** Further facts, and what to do if the reader did not request it. */
  readonly end: string;
};
export type MailTexts = {
  /** The text before the secret of a link, for a reader who opened the page without the secret. */
  readonly paste: string;
  /** The text before a code that replaces the link, for a reader whose page waits for the code. */
  readonly type: string;
  readonly facts: { readonly [fact in FactName]: string };
  readonly of: { readonly [text in MailTextName]: MailParts };
};
/** Most purposes have one text. A change of address has one per mailbox. */
export type MailTextName =
  | Exclude<MailPurpose, 'security_notice'>
  | 'email_change_present'
  | 'email_change_taken';
export type FactName =
  | 'address'
  | 'day'
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
    day: 'In force on',
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
    email_change: {
      subject: 'Confirm your new e-mail address',
      why: 'Somebody wants this to be the address of their account. Please confirm that it is yours.',
      call: 'Confirm the address',
      end: 'The link works once. If you did not ask for it, do nothing: no account gets this address.',
    },
    email_change_present: {
      subject: 'Confirm that your account gets another address',
      why: 'Somebody who is signed in to your account wants it to have another e-mail address. It changes once both addresses have confirmed it.',
      call: 'Confirm the change',
      end: 'The link works once. If it was not you, do not press it: your address stays. Then set a new password, which ends all sessions.',
    },
    email_change_taken: {
      subject: 'Somebody wanted to move to this address',
      why: 'Somebody wanted this to be the e-mail address of their account, but you have an account with it.',
      call: '',
      end: 'Nothing has changed. If it was you, use the account that you have, or give it another address first.',
    },
    email_change_stop: {
      subject: 'Your account is about to get another address',
      why: 'Somebody asked, with a second factor of your account, for another e-mail address, because this one is out of reach. You can stop that until the day below.',
      call: 'Stop the change',
      end: 'If it was you, do nothing. Otherwise stop it, and set a new password, which ends all sessions.',
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
    day: 'Gilt ab',
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
    email_change: {
      subject: 'Bestätigen Sie Ihre neue E-Mail-Adresse',
      why: 'Jemand möchte diese Adresse für sein Konto verwenden. Bitte bestätigen Sie, dass sie Ihnen gehört.',
      call: 'Adresse bestätigen',
      end: 'Der Link funktioniert einmal. Wenn Sie ihn nicht angefordert haben, müssen Sie nichts tun: Kein Konto erhält diese Adresse.',
    },
    email_change_present: {
      subject: 'Bestätigen Sie die neue Adresse Ihres Kontos',
      why: 'Jemand, der bei Ihrem Konto angemeldet ist, möchte ihm eine andere E-Mail-Adresse geben. Sie ändert sich, sobald beide Adressen es bestätigt haben.',
      call: 'Änderung bestätigen',
      end: 'Der Link funktioniert einmal. Wenn Sie es nicht waren, drücken Sie ihn nicht: Ihre Adresse bleibt. Legen Sie dann ein neues Passwort fest, das alle Sitzungen beendet.',
    },
    email_change_taken: {
      subject: 'Jemand wollte zu dieser Adresse wechseln',
      why: 'Jemand wollte diese E-Mail-Adresse für sein Konto verwenden, aber Sie haben bereits ein Konto mit ihr.',
      call: '',
      end: 'Es hat sich nichts geändert. Wenn Sie es waren, verwenden Sie das vorhandene Konto, oder geben Sie ihm zuerst eine andere Adresse.',
    },
    email_change_stop: {
      subject: 'Ihr Konto erhält bald eine andere Adresse',
      why: 'Jemand hat mit einem zweiten Faktor Ihres Kontos um eine andere E-Mail-Adresse gebeten, weil diese nicht erreichbar sei. Bis zum unten genannten Tag können Sie das verhindern.',
      call: 'Änderung verhindern',
      end: 'Wenn Sie es waren, müssen Sie nichts tun. Verhindern Sie es andernfalls, und legen Sie ein neues Passwort fest, das alle Sitzungen beendet.',
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
