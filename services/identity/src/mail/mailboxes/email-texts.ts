/** What the mails say, in each language of the pages. `{tenant}` is filled in. */
import type { MailPurpose } from '@cardea/contracts';
import type { Language } from '../../pages/texts.ts';

type Words = {
  readonly subject: string;
  readonly lead: string;
  /** Before a link or a code; empty for mails that have neither. */
  readonly call: string;
  readonly end: string;
};
export type MailTexts = {
  readonly greeting: string;
  readonly from: string;
  readonly of: { readonly [purpose in MailPurpose]: Words };
};

const EN: MailTexts = {
  greeting: 'Hello,',
  from: 'This mail comes from {tenant}.',
  of: {
    verify: {
      subject: 'Confirm your e-mail address',
      lead: 'please confirm that this address is yours.',
      call: 'Confirm the address',
      end: 'The link works once, for 24 hours. If you did not ask for it, do nothing.',
    },
    reset: {
      subject: 'Set a new password',
      lead: 'somebody asked for a new password for the account with this address.',
      call: 'Choose a new password',
      end: 'The link works once, for one hour. If you did not ask for it, do nothing.',
    },
    magic_link: {
      subject: 'Sign in',
      lead: 'somebody asked for a link to sign in with this address.',
      call: 'Sign in',
      end: 'The link works once, for 15 minutes. If you did not ask for it, do nothing.',
    },
    otp: {
      subject: 'Your code to sign in',
      lead: 'somebody asked for a code to sign in with this address.',
      call: 'Your code',
      end: 'The code works once, for 10 minutes. Give it to nobody. If you did not ask for it, do nothing.',
    },
    invitation: {
      subject: 'You are invited',
      lead: 'an administrator invites you to an account with this address.',
      call: 'Accept the invitation',
      end: 'The link works once, for seven days. If you did not expect it, do nothing.',
    },
    notice: {
      subject: 'You already have an account',
      lead: 'somebody tried to register with this address, which already has an account.',
      call: '',
      end: 'If it was you, sign in, or ask for a new password. Otherwise do nothing.',
    },
    new_device: {
      subject: 'New sign-in to your account',
      lead: 'somebody signed in to your account, by a device or from a place that it was not used from before.',
      call: '',
      end: 'If it was you, do nothing. Otherwise set a new password, which ends all sessions.',
    },
  },
};

const DE: MailTexts = {
  greeting: 'Guten Tag,',
  from: 'Diese E-Mail kommt von {tenant}.',
  of: {
    verify: {
      subject: 'Bestätigen Sie Ihre E-Mail-Adresse',
      lead: 'bitte bestätigen Sie, dass diese Adresse Ihnen gehört.',
      call: 'Adresse bestätigen',
      end: 'Der Link funktioniert einmal, 24 Stunden lang. Wenn Sie ihn nicht angefordert haben, müssen Sie nichts tun.',
    },
    reset: {
      subject: 'Neues Passwort festlegen',
      lead: 'jemand hat für das Konto mit dieser Adresse ein neues Passwort angefordert.',
      call: 'Neues Passwort wählen',
      end: 'Der Link funktioniert einmal, eine Stunde lang. Wenn Sie ihn nicht angefordert haben, müssen Sie nichts tun.',
    },
    magic_link: {
      subject: 'Anmelden',
      lead: 'jemand hat einen Link angefordert, um sich mit dieser Adresse anzumelden.',
      call: 'Anmelden',
      end: 'Der Link funktioniert einmal, 15 Minuten lang. Wenn Sie ihn nicht angefordert haben, müssen Sie nichts tun.',
    },
    otp: {
      subject: 'Ihr Code zum Anmelden',
      lead: 'jemand hat einen Code angefordert, um sich mit dieser Adresse anzumelden.',
      call: 'Ihr Code',
      end: 'Der Code funktioniert einmal, 10 Minuten lang. Geben Sie ihn niemandem. Wenn Sie ihn nicht angefordert haben, müssen Sie nichts tun.',
    },
    invitation: {
      subject: 'Sie sind eingeladen',
      lead: 'Ihre Administration lädt Sie zu einem Konto mit dieser Adresse ein.',
      call: 'Einladung annehmen',
      end: 'Der Link funktioniert einmal, sieben Tage lang. Wenn Sie ihn nicht erwartet haben, müssen Sie nichts tun.',
    },
    notice: {
      subject: 'Sie haben bereits ein Konto',
      lead: 'jemand wollte sich mit dieser Adresse registrieren, zu der es bereits ein Konto gibt.',
      call: '',
      end: 'Wenn Sie es waren, melden Sie sich an oder fordern Sie ein neues Passwort an. Andernfalls müssen Sie nichts tun.',
    },
    new_device: {
      subject: 'Neue Anmeldung bei Ihrem Konto',
      lead: 'jemand hat sich bei Ihrem Konto angemeldet, mit einem Gerät oder an einem Ort, von dem es bisher nicht benutzt wurde.',
      call: '',
      end: 'Wenn Sie es waren, müssen Sie nichts tun. Legen Sie andernfalls ein neues Passwort fest: Das beendet alle Sitzungen.',
    },
  },
};

export const MAIL_TEXTS: { readonly [language in Language]: MailTexts } = { en: EN, de: DE };
