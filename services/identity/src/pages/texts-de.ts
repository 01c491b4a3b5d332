/** The texts of the pages in German. */
import type { Texts } from '@cardea/pages';
import type { OwnTextKey } from './texts-en.ts';

export const DE: Texts<OwnTextKey> = {
  or: 'oder',
  continue: 'Weiter',
  email: 'E-Mail-Adresse',
  password: 'Passwort',

  'sign_in.title': 'Anmelden',
  'sign_in.lead': 'weiter zu {client}',
  'sign_in.submit': 'Anmelden',
  'sign_in.otp': 'Code per E-Mail senden',
  'sign_in.magic_link': 'Link per E-Mail senden',
  'sign_in.passkey': 'Mit Passkey anmelden',
  'sign_in.social': 'Weiter mit {provider}',
  'sign_in.other_way': 'Anders anmelden',
  'sign_in.none':
    'Hier ist keine Anmeldung eingerichtet. Bitte wenden Sie sich an Ihre Administration.',
  'sign_in.abort': 'Abbrechen',
  'sign_in.forgotten': 'Passwort vergessen?',
  'sign_in.create': 'Konto anlegen',
  'passkey.failed':
    'Der Passkey wurde nicht verwendet. Versuchen Sie es noch einmal oder wählen Sie einen anderen Weg.',

  'otp.title': 'Code eingeben',
  'otp.lead': 'Falls {email} hier ein Konto hat, ist ein Code unterwegs. Er gilt 10 Minuten.',
  'otp.code': 'Code aus der E-Mail',
  'otp.again': 'Neuen Code senden',
  'link_sent.title': 'Sehen Sie in Ihre E-Mails',
  'link_sent.lead':
    'Falls {email} hier ein Konto hat, ist eine E-Mail unterwegs. Öffnen Sie innerhalb von 15 Minuten ihren Link in diesem Browser, oder geben Sie ihren Code hier ein.',
  'link_sent.again': 'Noch eine E-Mail senden',

  'forgotten.title': 'Neues Passwort setzen',
  'forgotten.lead':
    'Wir senden Ihnen eine E-Mail mit einem Link zu einer Seite, auf der Sie es setzen.',
  'forgotten.submit': 'E-Mail senden',
  'forgotten.back': 'Zurück zur Anmeldung',
  'reset_sent.lead':
    'Falls {email} hier ein Konto hat, ist eine E-Mail mit einem Link unterwegs. Setzen Sie dort das neue Passwort, kehren Sie dann hierher zurück und melden Sie sich damit an.',

  'create.title': 'Konto anlegen',
  'create.name': 'Name (freiwillig)',
  'create.submit': 'Konto anlegen',
  'create.sign_in': 'Ich habe ein Konto: anmelden',
  'created.lead':
    'Eine E-Mail an {email} ist unterwegs. Geben Sie ihren Code hier ein, oder öffnen Sie ihren Link in diesem Browser.',
  'created.again': 'Noch eine E-Mail senden',

  'second.title': 'Bestätigen Sie, dass Sie es sind',
  'second.lead': 'Ihr Konto verlangt einen zweiten Schritt.',
  'second.totp': 'Code aus Ihrer Authentifizierungs-App',
  'second.recovery.open': 'Wiederherstellungscode verwenden',
  'second.recovery': 'Wiederherstellungscode',
  'second.passkey': 'Passkey verwenden',
  'second.passkey_only':
    'Dieser Schritt braucht einen Passkey und daher einen Browser mit eingeschaltetem JavaScript.',
  'second.other_account': 'Neu beginnen',

  'enrol.title': 'Zweiten Schritt einrichten',
  'enrol.lead': '{tenant} verlangt bei jeder Anmeldung einen zweiten Schritt. Wählen Sie Ihren.',
  'enrol.passkey': 'Passkey erstellen',
  'enrol.totp': 'Authentifizierungs-App einrichten',
  'enrol.scan': 'Scannen Sie dieses Bild mit Ihrer Authentifizierungs-App.',
  'enrol.picture': 'QR-Code mit dem Schlüssel für Ihre Authentifizierungs-App',
  'enrol.key': 'Oder geben Sie diesen Schlüssel in die App ein:',
  'enrol.code': 'Code, den die App anzeigt',
  'enrol.submit': 'Fertig',

  'codes.title': 'Bewahren Sie Ihre Wiederherstellungscodes auf',
  'codes.lead':
    'Mit jedem davon können Sie sich einmal anmelden, falls Sie Ihren zweiten Schritt verlieren. Sie werden nicht wieder angezeigt.',
  'codes.file': 'wiederherstellungscodes.txt',
  'codes.list': 'Wiederherstellungscodes',
  'codes.continue': 'Aufbewahrt: weiter',

  'account.title': 'Konto wählen',
  'account.continue': 'Weiter als {email}',
  'account.other': 'Anderes Konto verwenden',

  'continue.title': 'Weiter zu {client}?',
  'continue.lead':
    'Sie werden auf diesem Gerät zu {host} weitergeleitet. Fahren Sie nur fort, wenn Sie diese Anmeldung gerade selbst begonnen haben.',

  'consent.title': 'Zugriff erlauben?',
  'consent.lead': '{client} möchte für Sie handeln. Sie werden zu {host} weitergeleitet.',
  'consent.publisher': 'Diese Anwendung hat hier niemand registriert. {host} beschreibt sie.',
  'consent.account': 'Angemeldet als {email}',
  'consent.not_me': 'Das bin ich nicht',
  'consent.scopes': 'Die Anwendung könnte:',
  'consent.claims': 'Sie würde auch erfahren:',
  'claim.public_metadata': '{name}: was {tenant} als „{path}“ über Sie gespeichert hat',
  'claim.private_metadata':
    '{name}: was {tenant} als „{path}“ über Sie gespeichert hat und Ihnen nicht zeigt',
  'claim.roles': '{name}: Ihre Rollen bei {tenant}',
  'claim.tenant': '{name}: der Kurzname von {tenant}',
  'claim.locale': '{name}: Ihre Sprache',
  'consent.allow': 'Erlauben',
  'consent.deny': 'Nicht erlauben',
  'scope.openid': 'Wissen, wer Sie sind',
  'scope.profile': 'Ihren Namen, Benutzernamen, Ihr Bild und Ihre Sprache sehen',
  'scope.email': 'Ihre E-Mail-Adresse sehen',
  'scope.offline_access': 'Angemeldet bleiben, während Sie weg sind',
  'scope.roles': 'Mit Ihren Rollen handeln',
  'scope.account': 'In Ihrem Konto als Sie handeln',
  'consent.device':
    'Dies führt zu einem Programm auf Ihrem eigenen Gerät. Erlauben Sie es nur, wenn Sie gerade eines gestartet haben.',

  'consent.of_device.lead':
    '{client} möchte auf einem Gerät für Sie handeln, das diesen Code zeigt:',
  'consent.of_device.warning':
    'Erlauben Sie es nur, wenn Sie dies selbst begonnen haben, auf einem eigenen Gerät. Hat Ihnen jemand den Code oder den Link geschickt, erlauben Sie es nicht: Die Person würde als Sie handeln.',

  'device.title': 'Gerät verbinden',
  'device.lead': 'Geben Sie den Code ein, den Ihr Gerät zeigt.',
  'device.code': 'Code auf dem Gerät',
  'device.confirm.lead': '{client} bittet um Zugriff von einem Gerät, das diesen Code zeigt:',
  'device.confirm.scopes': 'Die Anwendung möchte:',
  'device.confirm.warning':
    'Fahren Sie nur fort, wenn Sie dies selbst begonnen haben und Ihr Gerät denselben Code zeigt.',
  'device.confirm.deny': 'Das habe ich nicht begonnen',
  'device.done.title': 'Ihr Gerät ist verbunden',
  'device.done.lead': 'Sie können diese Seite schließen und zum Gerät zurückkehren.',
  'device.wrong': 'Dieser Code stimmt nicht.',
  'device.expired': 'Dieser Code ist abgelaufen. Beginnen Sie am Gerät von vorn.',
  'device.used': 'Dieser Code wurde schon benutzt. Beginnen Sie am Gerät von vorn.',
  'device.denied': 'Das Gerät hat keinen Zugriff erhalten.',
  'device.failed': 'Das hat nicht geklappt. Beginnen Sie am Gerät von vorn.',

  'link.paste': 'Der Link aus der E-Mail oder der Teil nach „token=“',
  'magic.title': 'Anmelden',
  'magic.lead': 'Mit dem Knopf melden Sie sich mit dem Link aus Ihrer E-Mail an.',
  'magic.submit': 'Anmelden',
  'magic.done.title': 'Der Link ist gültig',
  'magic.done.lead': 'Sie können diese Seite schließen und zur Anwendung zurückkehren.',

  'elsewhere.title': 'Weiter im anderen Browser',
  'elsewhere.code':
    'Diese Anmeldung wartet in einem anderen Browser. Geben Sie den Code aus der E-Mail auf der Seite ein, die dort offen ist.',
  'elsewhere.here': 'Oder melden Sie sich hier an:',
  'over.title': 'Dieser Link wurde schon benutzt',
  'over.lead': 'Sie haben sich damit angemeldet oder sind auf andere Art fortgefahren.',
  'gone.title': 'Dieser Link gilt nicht mehr',
  'gone.lead':
    'Er wurde schon benutzt, oder seine Zeit ist um. Wenn Sie eine neue E-Mail brauchen, fordern Sie sie dort an, wo Sie diese angefordert haben.',
  'dead.used.title': 'Dieser Link wurde schon benutzt',
  'dead.expired.title': 'Dieser Link ist abgelaufen',
  'dead.expired': 'Fordern Sie dort einen neuen an, wo Sie diesen angefordert haben.',
  'dead.invalid.title': 'Dieser Link gilt nicht mehr',
  'dead.invalid':
    'Wenn Sie eine neuere E-Mail haben, verwenden Sie deren Link. Fordern Sie andernfalls einen neuen an.',
  'used.magic':
    'Mit jedem Link kann man sich einmal anmelden. Fordern Sie dort einen neuen an, wo Sie diesen angefordert haben.',
  'email_change.title': 'Änderung der Adresse bestätigen',
  'email_change.lead':
    'Mit dem Knopf bestätigen Sie, dass ein Konto eine andere E-Mail-Adresse erhält.',
  'email_change.submit': 'Bestätigen',
  'email_change.done.title': 'Ihre Bestätigung ist vermerkt',
  'email_change.done.lead':
    'Die Adresse ändert sich, sobald alles bestätigt ist; Sie erhalten dann eine E-Mail. Sie können diese Seite schließen.',
  'used.email_change': 'Sie haben es mit diesem Link bereits bestätigt.',
  'email_change_stop.title': 'Adresse behalten',
  'email_change_stop.lead':
    'Mit dem Knopf verhindern Sie die Änderung der E-Mail-Adresse. Ihr Konto bleibt, wie es ist.',
  'email_change_stop.submit': 'Änderung verhindern',
  'email_change_stop.done.title': 'Die Änderung ist verhindert',
  'email_change_stop.done.lead':
    'Ihre Adresse bleibt, wie sie ist. Wenn jemand anderes die Änderung verlangt hat, legen Sie ein neues Passwort fest.',
  'used.email_change_stop': 'Die Änderung ist bereits verhindert.',
  'used.verify': 'Ihre Adresse ist schon bestätigt. Sie können sich anmelden.',
  'used.reset':
    'Ihr neues Passwort gilt schon: Melden Sie sich damit an. Wenn Sie es nicht gesetzt haben, fordern Sie eine neue E-Mail an.',
  'used.invitation': 'Die Einladung ist schon angenommen. Sie können sich anmelden.',
  'onward.application': 'Weiter zu {name}',
  'verify.title': 'E-Mail-Adresse bestätigen',
  'verify.lead': 'Mit dem Knopf bestätigen Sie, dass die Adresse Ihnen gehört.',
  'verify.elsewhere':
    'Sie haben sich in einem anderen Browser registriert. Um dort fortzufahren, geben Sie den Code aus der E-Mail auf der Seite ein, die dort offen ist. Oder bestätigen Sie die Adresse hier.',
  'verify.password': 'Ihr Passwort, falls Sie sich registriert haben',
  'verify.hint':
    'Ohne Passwort endet eines, das jemand vorher gewählt hat, und Sie erhalten eine E-Mail, um ein eigenes zu wählen.',
  'verify.submit': 'Bestätigen',
  'verify.done.title': 'Ihre Adresse ist bestätigt',
  'verify.done.lead': 'Sie können diese Seite schließen.',
  'reset.title': 'Neues Passwort wählen',
  'reset.lead': 'Sie werden überall abgemeldet.',
  'reset.password': 'Neues Passwort',
  'reset.hint': 'Mindestens {min} Zeichen.',
  'reset.submit': 'Passwort setzen',
  'reset.done.title': 'Ihr neues Passwort gilt',
  'reset.done.lead': 'Sie können diese Seite schließen und sich damit anmelden.',
  'invitation.title': 'Einladung annehmen',
  'invitation.lead': 'Geben Sie Ihren Namen an und wählen Sie ein Passwort.',
  'invitation.name': 'Name',
  'invitation.submit': 'Annehmen',
  'invitation.done.title': 'Willkommen',
  'invitation.done.lead':
    'Ihr Konto ist eingerichtet. Sie können diese Seite schließen und sich anmelden.',

  'page_sign_in.title': 'Anmelden',
  'page_sign_in.lead': 'Bei welcher Organisation melden Sie sich an?',
  'page_sign_in.organization': 'Kurzname der Organisation',
  'page_sign_in.submit': 'Weiter',
  'page_sign_in.unknown': 'Keine Organisation hat diesen Kurznamen.',
  'page_sign_in.lapsed':
    'Diese Anmeldung wurde nicht beendet: Sie wurde in einem anderen Browser begonnen, abgebrochen oder dauerte zu lange.',
  'page_sign_in.again': 'Anmelden',
  'sign_out.title': 'Abmelden?',
  'sign_out.lead': 'Sie sind als {email} angemeldet.',
  'sign_out.lead_unknown': 'Sie sind angemeldet.',
  'sign_out.stay': 'Wenn Sie angemeldet bleiben möchten, schließen Sie diese Seite.',
  'sign_out.submit': 'Abmelden',
  'sign_out.done.title': 'Sie sind abgemeldet',
  'sign_out.done.lead': 'Sie können diese Seite schließen.',

  'sign_in.replaced':
    'In diesem Browser hat sich inzwischen jemand anders an- oder abgemeldet. Melden Sie sich erneut an, um hier fortzufahren.',
  'failed.lapsed':
    'Diese Seite ist abgelaufen. Kehren Sie zur Anwendung zurück und beginnen Sie neu.',
  'failed.request':
    'Die Anwendung hat Sie mit einer Anfrage hierher geschickt, die nicht beantwortet werden kann ({code}).',

  'refused.invalid_credentials': 'E-Mail-Adresse oder Passwort ist nicht richtig.',
  'refused.invalid_email': 'Das ist keine E-Mail-Adresse.',
  'refused.invalid_code': 'Dieser Code ist nicht richtig.',
  'refused.code_expired': 'Dieser Code ist abgelaufen. Fordern Sie einen neuen an.',
  'refused.invalid_passkey': 'Dieser Passkey wurde nicht angenommen.',
  'refused.challenge_expired': 'Das hat zu lange gedauert. Versuchen Sie es noch einmal.',
  'refused.enrolment_expired': 'Das hat zu lange gedauert. Beginnen Sie neu.',
  'refused.invalid_mfa_token': 'Diese Anmeldung ist abgelaufen. Beginnen Sie neu.',
  'refused.mfa_token_expired': 'Diese Anmeldung ist abgelaufen. Beginnen Sie neu.',
  'refused.email_not_verified':
    'Bestätigen Sie zuerst Ihre E-Mail-Adresse: Wir haben Ihnen eine E-Mail geschickt.',
  'refused.login_disabled': 'Diese Art der Anmeldung ist hier nicht eingeschaltet.',
  'refused.invalid_link': 'Dieser Link gilt nicht mehr. Fordern Sie einen neuen an.',
  'refused.code_used':
    'Dieser Code wurde schon benutzt. Wenn die Adresse in einem anderen Browser bestätigt wurde, melden Sie sich an.',
  'refused.link_used': 'Dieser Link wurde schon benutzt. Fordern Sie einen neuen an.',
  'refused.link_expired': 'Dieser Link ist abgelaufen. Fordern Sie einen neuen an.',
  'refused.password_too_short': 'Dieses Passwort ist zu kurz.',
  'refused.password_too_long': 'Dieses Passwort ist zu lang.',
  'refused.password_too_weak': 'Dieses Passwort ist zu leicht zu erraten.',
  'refused.password_breached':
    'Dieses Passwort ist aus einem Datenleck bekannt. Wählen Sie ein anderes.',
  'refused.password_reused': 'Dieses Passwort hatten Sie schon einmal. Wählen Sie ein anderes.',
  'refused.email_already_exists': 'Diese Adresse hat schon ein Konto. Melden Sie sich an.',
  'refused.registration_closed':
    'Hier kann sich niemand selbst registrieren. Bitte wenden Sie sich an Ihre Administration.',
  'refused.access_denied': 'Sie haben die Anmeldung abgebrochen.',
  'refused.user_inactive':
    'Dieses Konto ist nicht aktiv. Bitte wenden Sie sich an Ihre Administration.',
  'refused.other_identity': 'Dieses Konto ist mit einem anderen Konto dieses Anbieters verknüpft.',
  'refused.social_address': 'Der Anbieter bürgt nicht für Ihre E-Mail-Adresse.',
  'refused.provider_not_configured': 'Dieser Anbieter ist hier nicht eingerichtet.',
  'refused.provider_unavailable':
    'Der Anbieter antwortet nicht. Versuchen Sie es später noch einmal.',
  'refused.social_sign_in_failed':
    'Die Anmeldung beim Anbieter ist nicht gelungen. Versuchen Sie es noch einmal.',
  'refused.invalid_state':
    'Diese Seite ist abgelaufen. Kehren Sie zur Anwendung zurück und beginnen Sie neu.',
};
