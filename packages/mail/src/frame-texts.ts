/** The texts that the frame of every mail has itself. `{tenant}` is filled in. */
import type { Language } from './languages.ts';

type FrameTexts = {
  readonly from: string;
  /** Before the address for questions. */
  readonly support: string;
};

export const FRAME_TEXTS: { readonly [language in Language]: FrameTexts } = {
  en: { from: 'This mail comes from {tenant}.', support: 'Questions' },
  de: { from: 'Diese E-Mail kommt von {tenant}.', support: 'Fragen' },
};
