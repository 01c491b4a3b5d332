export { type ListedMail, type MailFolder, mailFolder } from './mail-folder.ts';
export { escapeHtml, type MailText, mailText, oneLine } from './mail-text.ts';
export { type Mail, type MailTransport, mailTransports } from './mail-transport.ts';
export { type Outbox, outboxLoop } from './outbox.ts';
