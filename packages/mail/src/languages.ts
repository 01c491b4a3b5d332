/** The languages of mails and pages. */
export const LANGUAGES = ['en', 'de'] as const;
export type Language = (typeof LANGUAGES)[number];
/** The language for readers whose language is unknown. */
export const DEFAULT_LANGUAGE: Language = 'en';

/** Undefined for a language without texts. */
export const knownLanguage = (tag: string): Language | undefined =>
  LANGUAGES.find((language) => language === tag);
