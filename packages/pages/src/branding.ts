/** The colours of a tenant, adjusted so that text on its pages stays readable (WCAG 2.2, 1.4.3 and 1.4.11). */
import { BRAND_COLOR, CARD_COLORS, inkOn, PAGE_COLORS, readable } from '@cardea/mail';
import { computedOnce } from '@cardea/runtime';

/** Branding as tenants and applications set it. Other fields are missing or null. */
export type Branding = {
  readonly logo_url?: string | null;
  readonly primary_color?: string | null;
  readonly background_color?: string | null;
  readonly support_email?: string | null;
  readonly terms_url?: string | null;
  readonly privacy_url?: string | null;
};

export type Scheme = {
  readonly page: string;
  /** The colour of links at the foot of the page, outside of the card. */
  readonly pageText: string;
  readonly brand: string;
  readonly onBrand: string;
  /** The edge of elements in the brand's colour, and text of that colour on the card. */
  readonly link: string;
};

/** The style sheets of this many combinations of colours are cached. */
const STYLES_MAX = 500;
const styles = computedOnce<string, string>(STYLES_MAX);

export function schemesOf({ primary_color: primary, background_color: background }: Branding): {
  readonly light: Scheme;
  readonly dark: Scheme;
} {
  const brand = primary ?? BRAND_COLOR;
  const onBrand = inkOn(brand);
  const page = background ?? PAGE_COLORS.light;
  const light = readable(brand, CARD_COLORS.light);
  const dark = readable(brand, CARD_COLORS.dark);
  return {
    light: { page, pageText: inkOn(page), brand, onBrand, link: light },
    dark: { page: PAGE_COLORS.dark, pageText: inkOn(PAGE_COLORS.dark), brand, onBrand, link: dark },
  };
}

/** The style sheet's custom properties. All values are colours that were made or checked here. */
export function brandStyle(branding: Branding): string {
  const key = `${branding.primary_color}/${branding.background_color}`;
  return styles(key, () => styleOf(schemesOf(branding)));
}

function styleOf({ light, dark }: ReturnType<typeof schemesOf>): string {
  const vars = ({ page, pageText, brand, onBrand, link }: Scheme) =>
    `:root{--page:${page};--page-text:${pageText};--brand:${brand};--on-brand:${onBrand};` +
    `--brand-line:${link};--link:${link}}`;
  return `${vars(light)}@media(prefers-color-scheme:dark){${vars(dark)}}`;
}
