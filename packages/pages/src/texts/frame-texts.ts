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
  'refused.other': 'Das hat nicht geklappt. Prüfen Sie Ihre Eingabe.',
  'refused.until': 'Zu viele Versuche. Versuchen Sie es in {time} noch einmal.',
  'refused.too_many_attempts': 'Zu viele Versuche. Versuchen Sie es später noch einmal.',
  'refused.rate_limited': 'Zu viele Versuche. Versuchen Sie es später noch einmal.',
};
