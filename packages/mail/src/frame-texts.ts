/** The texts of the frame of every mail. `{tenant}` is replaced. */
import type { Language } from './languages.ts';

type FrameTexts = {
  readonly from: string;
  /** Precedes the address for questions. */
  readonly support: string;
};

export const FRAME_TEXTS: { readonly [language in Language]: FrameTexts } = {
  en: { from: 'This mail comes from {tenant}.', support: 'Questions' },
  de: { from: 'Diese E-Mail kommt von {tenant}.', support: 'Fragen' },
};
