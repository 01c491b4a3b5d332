/** The texts of the frame and of its fields, which every page has whatever its service is. */
export const EN_FRAME = {
  'error.prefix': 'Error',
  'foot.terms': 'Terms',
  'foot.privacy': 'Privacy',
  'foot.support': 'Help',
  'password.show': 'Show password',
  'password.hide': 'Hide password',
  'failed.title': 'This did not work',
  'failed.foreign': 'This form was not sent from our own page. Go back and start again.',
  'page.not_found': 'There is nothing here for you. Perhaps you are signed in as somebody else.',
  'page.elsewhere_title': 'Signed in elsewhere',
  'page.elsewhere': 'You are signed in at {tenant}. This link is of another organization.',
  'page.switch': 'Sign in there',
  'page.ended': 'Your sign-in has ended. Nothing was done.',
  'page.sign_in_again': 'Sign in again',
  'refused.step_up_required': 'This needs a recent sign-in.',
  'refused.unauthenticated': 'Your sign-in has ended. Nothing was done.',
  'refused.temporarily_unavailable': 'This does not work at the moment. Try again.',
  'refused.overloaded': 'This does not work at the moment. Try again.',
  'refused.other': 'That did not work. Check what you have entered.',
  'refused.until': 'Too many attempts. Try again in {time}.',
  'refused.too_many_attempts': 'Too many attempts. Try again later.',
  'refused.rate_limited': 'Too many attempts. Try again later.',
} as const;

export type FrameTextKey = keyof typeof EN_FRAME;

export const DE_FRAME: { readonly [key in FrameTextKey]: string } = {
  'error.prefix': 'Fehler',
  'foot.terms': 'Nutzungsbedingungen',
  'foot.privacy': 'Datenschutz',
  'foot.support': 'Hilfe',
  'password.show': 'Passwort zeigen',
  'password.hide': 'Passwort verbergen',
  'failed.title': 'Das hat nicht geklappt',
  'failed.foreign':
    'Dieses Formular kam nicht von unserer eigenen Seite. Gehen Sie zurück und beginnen Sie neu.',
  'page.not_found':
    'Hier ist nichts für Sie. Vielleicht sind Sie mit einem anderen Konto angemeldet.',
  'page.elsewhere_title': 'Woanders angemeldet',
  'page.elsewhere':
    'Sie sind bei {tenant} angemeldet. Dieser Link gehört zu einer anderen Organisation.',
  'page.switch': 'Dort anmelden',
  'page.ended': 'Ihre Anmeldung ist beendet. Es wurde nichts getan.',
  'page.sign_in_again': 'Neu anmelden',
  'refused.step_up_required': 'Dafür müssen Sie sich vor Kurzem angemeldet haben.',
  'refused.unauthenticated': 'Ihre Anmeldung ist beendet. Es wurde nichts getan.',
  'refused.temporarily_unavailable': 'Das geht gerade nicht. Versuchen Sie es noch einmal.',
  'refused.overloaded': 'Das geht gerade nicht. Versuchen Sie es noch einmal.',
  'refused.other': 'Das hat nicht geklappt. Prüfen Sie Ihre Eingabe.',
  'refused.until': 'Zu viele Versuche. Versuchen Sie es in {time} noch einmal.',
  'refused.too_many_attempts': 'Zu viele Versuche. Versuchen Sie es später noch einmal.',
  'refused.rate_limited': 'Zu viele Versuche. Versuchen Sie es später noch einmal.',
};
