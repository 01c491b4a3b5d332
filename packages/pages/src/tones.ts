/** The four tones of statuses and notices. Text and edge have one colour, and the tint is the background. */

export const TONE_NAMES = ['good', 'warn', 'bad', 'info'] as const;
export type Tone = (typeof TONE_NAMES)[number];
type Tones = { readonly [tone in Tone]: { readonly ink: string; readonly tint: string } };

export const TONES: { readonly light: Tones; readonly dark: Tones } = {
  light: {
    good: { ink: '#0f5c2e', tint: '#e6f6ec' },
    warn: { ink: '#6b4700', tint: '#fff8e1' },
    bad: { ink: '#a40e26', tint: '#fff0f1' },
    info: { ink: '#0b4a8f', tint: '#e8f2fd' },
  },
  dark: {
    good: { ink: '#7ee2a3', tint: '#0f2a1a' },
    warn: { ink: '#f2cc60', tint: '#33270a' },
    bad: { ink: '#ff9ba5', tint: '#3a1418' },
    info: { ink: '#93c5fd', tint: '#10253f' },
  },
};

/** Returns the tones as custom properties, for example `--good` and `--good-tint`. */
export const toneProperties = (tones: Tones): string =>
  TONE_NAMES.map((tone) => `--${tone}:${tones[tone].ink};--${tone}-tint:${tones[tone].tint}`).join(
    ';',
  );

/** Classes that give an element the colours of a tone. */
export const TONE_CLASSES = TONE_NAMES.map(
  (tone) => `.${tone}{--ink:var(--${tone});--tint:var(--${tone}-tint)}`,
).join('\n');
