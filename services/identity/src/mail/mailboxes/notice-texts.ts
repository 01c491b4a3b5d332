/** The texts of notices about changes to an account's security, in each language. `{count}` is replaced. */
import type { Language } from '@cardea/mail';
import type { SecurityChange } from './mail-details.ts';

type Change = {
  /** The subject after the prefix of all notices. */
  readonly subject: string;
  /** One sentence: why the mail was sent. */
  readonly why: string;
};

export type NoticeTexts = {
  readonly prefix: string;
  readonly of: { readonly [change in SecurityChange]: Change };
  readonly several: { readonly one: Change; readonly many: Change };
  /** The text of the button to the tenant's own page. */
  readonly call: string;
  readonly facts: {
    readonly by: string;
    readonly administrator: string;
    readonly provider: string;
    readonly codesLeft: string;
    readonly day: string;
  };
  /**
   * The advice if the reader did not make the change. It depends on whether the user or an administrator made it, or
   * the account is gone.
   */
  readonly ends: { readonly own: string; readonly administrator: string; readonly gone: string };
};

const EN: NoticeTexts = {
  prefix: 'Security notice',
  of: {
    password_changed: {
      subject: 'your password was changed',
      why: 'The password of your account was changed.',
    },
    password_reset: {
      subject: 'your password was reset',
      why: 'A new password was set for your account by a mailed link, which ended all its sessions.',
    },
    passkey_added: {
      subject: 'a passkey was added',
      why: 'A passkey was added to your account. Whoever has it can sign in.',
    },
    passkey_removed: {
      subject: 'a passkey was removed',
      why: 'A passkey was removed from your account. It signs nobody in any more.',
    },
    authenticator_added: {
      subject: 'an authenticator app was added',
      why: 'An authenticator app was added to your account. Its codes are accepted when you sign in.',
    },
    authenticator_removed: {
      subject: 'an authenticator app was removed',
      why: 'An authenticator app was removed from your account. Its codes are not accepted any more.',
    },
    recovery_codes_made: {
      subject: 'new recovery codes were made',
      why: 'New recovery codes were made for your account. Earlier ones do not work any more.',
    },
    recovery_code_used: {
      subject: 'a recovery code was used',
      why: 'A recovery code of your account was used in the place of another factor.',
    },
    account_linked: {
      subject: 'a way to sign in was added',
      why: 'Your account can now be signed in to by an account elsewhere.',
    },
    account_unlinked: {
      subject: 'a way to sign in was removed',
      why: 'Your account cannot be signed in to by an account elsewhere any more.',
    },
    email_changed: {
      subject: 'this is now the address of your account',
      why: 'The e-mail address of your account was changed to this one. Its other sessions have ended.',
    },
    email_left: {
      subject: 'your account has another address',
      why: 'The e-mail address of your account was changed to another one. This one no longer signs in to it.',
    },
    email_change_stopped: {
      subject: 'your address stays as it is',
      why: 'The change of the e-mail address of your account was stopped. Nothing has changed.',
    },
    deletion_scheduled: {
      subject: 'your account will be deleted',
      why: 'Your account will be deleted on the day below, with what it holds about you. Its other sessions have ended, and no agent acts for you any more. Until then you can sign in and take it back.',
    },
    deletion_near: {
      subject: 'your account will be deleted soon',
      why: 'Your account will be deleted on the day below, with what it holds about you. Until then you can sign in and take it back.',
    },
    deletion_cancelled: {
      subject: 'your account will not be deleted',
      why: 'The deletion of your account was taken back. Your account stays.',
    },
    deletion_last_admin: {
      subject: 'your account could not be deleted',
      why: 'Today your account was to be deleted, but you are the last administrator, so it stays. Make somebody else an administrator, and ask for the deletion again.',
    },
    impersonated: {
      subject: 'an administrator acts in your name',
      why: 'For ten minutes an administrator can see what you see in your account and act in it. They cannot change your password or any way to sign in, and decide nothing for you. What they do is recorded under their own name.',
    },
    account_disabled: {
      subject: 'your account was disabled',
      why: 'Your account was disabled. Its sessions have ended, and nobody can sign in to it.',
    },
    account_deleted: {
      subject: 'your account was deleted',
      why: 'Your account was deleted, with what it held about you.',
    },
  },
  several: {
    one: {
      subject: '1 more change to your account',
      why: '1 more change was made to how your account is signed in to, shortly after others.',
    },
    many: {
      subject: '{count} more changes to your account',
      why: '{count} more changes were made to how your account is signed in to, shortly after others.',
    },
  },
  call: 'Open your account',
  facts: {
    by: 'Done by',
    administrator: 'an administrator',
    provider: 'Account at',
    codesLeft: 'Codes left',
    day: 'Deleted on',
  },
  ends: {
    own: 'If it was you, do nothing. Otherwise set a new password at once, which ends all sessions, and look at the ways to sign in to your account.',
    administrator: 'If you did not expect this, ask your administrators.',
    gone: 'If it was not you and you did not expect this, ask the administrators.',
  },
};

const DE: NoticeTexts = {
  prefix: 'Sicherheitshinweis',
  of: {
    password_changed: {
      subject: 'Ihr Passwort wurde geändert',
      why: 'Das Passwort Ihres Kontos wurde geändert.',
    },
    password_reset: {
      subject: 'Ihr Passwort wurde zurückgesetzt',
      why: 'Für Ihr Konto wurde mit einem Link aus einer E-Mail ein neues Passwort festgelegt. Das hat alle Sitzungen beendet.',
    },
    passkey_added: {
      subject: 'ein Passkey wurde hinzugefügt',
      why: 'Ihrem Konto wurde ein Passkey hinzugefügt. Wer ihn hat, kann sich anmelden.',
    },
    passkey_removed: {
      subject: 'ein Passkey wurde entfernt',
      why: 'Aus Ihrem Konto wurde ein Passkey entfernt. Mit ihm kann sich niemand mehr anmelden.',
    },
    authenticator_added: {
      subject: 'eine Authenticator-App wurde hinzugefügt',
      why: 'Ihrem Konto wurde eine Authenticator-App hinzugefügt. Ihre Codes gelten bei der Anmeldung.',
    },
    authenticator_removed: {
      subject: 'eine Authenticator-App wurde entfernt',
      why: 'Aus Ihrem Konto wurde eine Authenticator-App entfernt. Ihre Codes gelten nicht mehr.',
    },
    recovery_codes_made: {
      subject: 'neue Wiederherstellungscodes',
      why: 'Für Ihr Konto wurden neue Wiederherstellungscodes erzeugt. Frühere gelten nicht mehr.',
    },
    recovery_code_used: {
      subject: 'ein Wiederherstellungscode wurde benutzt',
      why: 'Ein Wiederherstellungscode Ihres Kontos wurde an Stelle eines anderen Faktors benutzt.',
    },
    account_linked: {
      subject: 'ein Weg zur Anmeldung kam hinzu',
      why: 'Bei Ihrem Konto kann man sich jetzt auch mit einem anderen Konto anmelden.',
    },
    account_unlinked: {
      subject: 'ein Weg zur Anmeldung fiel weg',
      why: 'Bei Ihrem Konto kann man sich mit einem anderen Konto nicht mehr anmelden.',
    },
    email_changed: {
      subject: 'dies ist jetzt die Adresse Ihres Kontos',
      why: 'Die E-Mail-Adresse Ihres Kontos wurde auf diese geändert. Seine anderen Sitzungen sind beendet.',
    },
    email_left: {
      subject: 'Ihr Konto hat eine andere Adresse',
      why: 'Die E-Mail-Adresse Ihres Kontos wurde auf eine andere geändert. Mit dieser kann man sich nicht mehr anmelden.',
    },
    email_change_stopped: {
      subject: 'Ihre Adresse bleibt, wie sie ist',
      why: 'Die Änderung der E-Mail-Adresse Ihres Kontos wurde verhindert. Es hat sich nichts geändert.',
    },
    deletion_scheduled: {
      subject: 'Ihr Konto wird gelöscht',
      why: 'Ihr Konto wird am unten genannten Tag gelöscht, mit allem, was es über Sie enthält. Seine anderen Sitzungen sind beendet, und kein Agent handelt mehr für Sie. Bis dahin können Sie sich anmelden und es zurücknehmen.',
    },
    deletion_near: {
      subject: 'Ihr Konto wird bald gelöscht',
      why: 'Ihr Konto wird am unten genannten Tag gelöscht, mit allem, was es über Sie enthält. Bis dahin können Sie sich anmelden und es zurücknehmen.',
    },
    deletion_cancelled: {
      subject: 'Ihr Konto wird nicht gelöscht',
      why: 'Die Löschung Ihres Kontos wurde zurückgenommen. Ihr Konto bleibt.',
    },
    deletion_last_admin: {
      subject: 'Ihr Konto konnte nicht gelöscht werden',
      why: 'Ihr Konto sollte heute gelöscht werden, aber Sie sind die letzte Person in der Administration, deshalb bleibt es. Geben Sie jemand anderem die Administration, und beantragen Sie die Löschung erneut.',
    },
    impersonated: {
      subject: 'Ihre Administration handelt in Ihrem Namen',
      why: 'Zehn Minuten lang kann jemand aus Ihrer Administration sehen, was Sie in Ihrem Konto sehen, und darin handeln. Weder Ihr Passwort noch ein Weg zur Anmeldung lassen sich so ändern, und für Sie wird nichts entschieden. Was dabei geschieht, wird unter dem eigenen Namen dieser Person festgehalten.',
    },
    account_disabled: {
      subject: 'Ihr Konto wurde gesperrt',
      why: 'Ihr Konto wurde gesperrt. Seine Sitzungen sind beendet, und niemand kann sich anmelden.',
    },
    account_deleted: {
      subject: 'Ihr Konto wurde gelöscht',
      why: 'Ihr Konto wurde gelöscht, mit allem, was es über Sie enthielt.',
    },
  },
  several: {
    one: {
      subject: '1 weitere Änderung an Ihrem Konto',
      why: 'Kurz nach anderen gab es 1 weitere Änderung daran, wie man sich bei Ihrem Konto anmeldet.',
    },
    many: {
      subject: '{count} weitere Änderungen an Ihrem Konto',
      why: 'Kurz nach anderen gab es {count} weitere Änderungen daran, wie man sich bei Ihrem Konto anmeldet.',
    },
  },
  call: 'Ihr Konto öffnen',
  facts: {
    by: 'Veranlasst von',
    administrator: 'Ihrer Administration',
    provider: 'Konto bei',
    codesLeft: 'Verbleibende Codes',
    day: 'Gelöscht am',
  },
  ends: {
    own: 'Wenn Sie es waren, müssen Sie nichts tun. Legen Sie andernfalls sofort ein neues Passwort fest, das alle Sitzungen beendet, und prüfen Sie, wie man sich bei Ihrem Konto anmelden kann.',
    administrator: 'Wenn Sie das nicht erwartet haben, fragen Sie Ihre Administration.',
    gone: 'Wenn Sie es nicht waren und es nicht erwartet haben, fragen Sie die Administration.',
  },
};

export const NOTICE_TEXTS: { readonly [language in Language]: NoticeTexts } = { en: EN, de: DE };
