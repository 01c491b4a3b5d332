/** Adjusts colours that a tenant chose so that text has enough contrast (WCAG 2.2, 1.4.3). */
export const TEXT_CONTRAST_MIN = 4.5;

/** The colour for a tenant that has chosen none. */
export const BRAND_COLOR = '#1f5fbf';
export const CARD_COLORS = { light: '#ffffff', dark: '#161b22' } as const;
export const PAGE_COLORS = { light: '#f2f4f7', dark: '#0d1117' } as const;
export const INKS = { dark: '#1b1f24', light: '#ffffff' } as const;
const STEPS = 20;

type Rgb = readonly [number, number, number];

/** Black or white. One of them is always readable. */
export const inkOn = (color: string): string =>
  contrast(INKS.light, color) >= TEXT_CONTRAST_MIN ? INKS.light : inkBlack(color);

const inkBlack = (color: string): string =>
  contrast(INKS.dark, color) >= TEXT_CONTRAST_MIN ? INKS.dark : '#000000';

/** The colour, moved towards black or white until it is readable on the other one. */
export function readable(color: string, on: string): string {
  const end: Rgb = luminance(rgbOf(on)) > 0.5 ? [0, 0, 0] : [255, 255, 255];
  const from = rgbOf(color);
  for (let step = 0; step <= STEPS; step += 1) {
    const share = step / STEPS;
    const mixed = hexOf(from.map((part, at) => part + ((end[at] ?? 0) - part) * share));
    if (contrast(mixed, on) >= TEXT_CONTRAST_MIN) return mixed;
  }
  return hexOf(end);
}

/** The contrast ratio, from 1 to 21. */
export function contrast(one: string, other: string): number {
  const luminances = [one, other].map((each) => luminance(rgbOf(each)));
  return (Math.max(...luminances) + 0.05) / (Math.min(...luminances) + 0.05);
}

function luminance(color: Rgb): number {
  const [red = 0, green = 0, blue = 0] = color.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const rgbOf = (color: string): Rgb => {
  const number = Number.parseInt(color.slice(1), 16);
  return [(number >> 16) & 255, (number >> 8) & 255, number & 255];
};
const hexOf = (parts: readonly number[]): string =>
  `#${parts.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;
