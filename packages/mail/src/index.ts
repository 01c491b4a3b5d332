export { DEFAULT_LANGUAGE, knownLanguage, LANGUAGES, type Language } from './languages.ts';
export type { Mail, MailTransport } from './mail.ts';
export { type ListedMail, type MailFolder, mailFolder } from './mail-folder.ts';
export { escapeHtml, type MailText, mailText, oneLine } from './mail-text.ts';
export { mailTransports } from './mail-transport.ts';
export { type Outbox, outboxLoop } from './outbox.ts';
