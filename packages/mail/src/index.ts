export type { Fact } from './blocks.ts';
export {
  BRAND_COLOR,
  CARD_COLORS,
  contrast,
  inkOn,
  PAGE_COLORS,
  readable,
  TEXT_CONTRAST_MIN,
} from './colors.ts';
export { DEFAULT_LANGUAGE, knownLanguage, LANGUAGES, type Language } from './languages.ts';
export type { Mail, MailTransport } from './mail.ts';
export { type ListedMail, type MailFolder, mailFolder } from './mail-folder.ts';
export { framedMail, type MailBrand, type MailContent } from './mail-frame.ts';
export { type MailText, spanText, untrustedText, utcText } from './mail-text.ts';
export { mailTransports } from './mail-transport.ts';
export { type Outbox, outboxLoop } from './outbox.ts';
