/**
 * The colours of a tenant as its pages may use them: whatever was set, text stays readable (WCAG 2.2, 1.4.3
 * and 1.4.11).
 */
/** As tenants and applications set it; the rest is missing or null. */
export type Branding = {
  readonly logo_url?: string | null;
  readonly primary_color?: string | null;
  readonly background_color?: string | null;
  readonly support_email?: string | null;
  readonly terms_url?: string | null;
  readonly privacy_url?: string | null;
};

export const TEXT_CONTRAST_MIN = 4.5;

type Rgb = readonly [number, number, number];

export type Scheme = {
  readonly page: string;
  /** Of links at the foot of the page, which stand outside of the card. */
  readonly pageText: string;
  readonly brand: string;
  readonly onBrand: string;
  /** The edge of what has the brand's colour, and text of that colour on the card. */
  readonly link: string;
};

export const CARDS = { light: '#ffffff', dark: '#161b22' } as const;
const DARK_PAGE = '#0d1117';
const LIGHT_PAGE = '#f2f4f7';
const BRAND = '#1f5fbf';
const INKS = { dark: '#1b1f24', light: '#ffffff' } as const;
const STEPS = 20;

export function schemesOf({ primary_color: primary, background_color: background }: Branding): {
  readonly light: Scheme;
  readonly dark: Scheme;
} {
  const brand = primary ?? BRAND;
  const onBrand = inkOn(brand);
  const page = background ?? LIGHT_PAGE;
  const light = readable(brand, CARDS.light);
  const dark = readable(brand, CARDS.dark);
  return {
    light: { page, pageText: inkOn(page), brand, onBrand, link: light },
    dark: { page: DARK_PAGE, pageText: inkOn(DARK_PAGE), brand, onBrand, link: dark },
  };
}

/** The style sheet's custom properties; all values are colours made or checked here. */
export function brandStyle(branding: Branding): string {
  const { light, dark } = schemesOf(branding);
  const vars = ({ page, pageText, brand, onBrand, link }: Scheme) =>
    `:root{--page:${page};--page-text:${pageText};--brand:${brand};--on-brand:${onBrand};` +
    `--brand-line:${link};--link:${link}}`;
  return `${vars(light)}@media(prefers-color-scheme:dark){${vars(dark)}}`;
}

/** Black or white: one of them is always readable. */
const inkOn = (color: string): string =>
  contrast(INKS.light, color) >= TEXT_CONTRAST_MIN ? INKS.light : inkBlack(color);

const inkBlack = (color: string): string =>
  contrast(INKS.dark, color) >= TEXT_CONTRAST_MIN ? INKS.dark : '#000000';

/** The colour, moved towards black or white as far as it takes to be read on the other one. */
function readable(color: string, on: string): string {
  const end: Rgb = luminance(rgbOf(on)) > 0.5 ? [0, 0, 0] : [255, 255, 255];
  const from = rgbOf(color);
  for (let step = 0; step <= STEPS; step += 1) {
    const share = step / STEPS;
    const mixed = hexOf(from.map((part, at) => part + ((end[at] ?? 0) - part) * share));
    if (contrast(mixed, on) >= TEXT_CONTRAST_MIN) return mixed;
  }
  return hexOf(end);
}

/** 1 to 21. */
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
