export { acceptsPage } from './accepts-page.ts';
export type { Branding } from './branding.ts';
export {
  field,
  form,
  hidden,
  mainButton,
  mainLink,
  orLine,
  passkeyForm,
  plainForm,
  revealing,
  saveBar,
} from './fields.ts';
export { html, type Markup, NOTHING, trusted } from './markup.ts';
export {
  asPage,
  type Frame,
  frameOf,
  type Html,
  type PageBody,
  page,
  plainPage,
  type ShownTenant,
  send,
  wantsPage,
} from './page.ts';
export {
  ago,
  type Fact,
  facts,
  firstRows,
  idNamedBy,
  namesById,
  partLink,
  type Table,
  table,
  tag,
  utcDay,
} from './parts.ts';
export { PASSKEY_SCRIPT, SAVE_SCRIPT, SHOW_PASSWORD_SCRIPT, scriptsOf } from './scripts.ts';
export {
  formToken,
  isFormToken,
  isOwnForm,
  type PageCookie,
  type PageCookies,
  pageClaims,
  pageCookies,
} from './session/page-cookie.ts';
export {
  CALLBACK_PATH,
  returnPath,
  SIGN_IN_PATH,
  SIGN_OUT_PATH,
  signInAddress,
} from './session/page-paths.ts';
export { languageOf, languageOfLocale } from './texts/reader-language.ts';
export { type Catalogue, catalogue, type Say, sayIn, type Texts } from './texts/texts.ts';
export type { Tone } from './tones.ts';
export type { PageDependencies } from './view/page-context.ts';
export type { FormUse, PageForm, PageOf, Shown, Strings } from './view/page-of.ts';
export { PAGE_CONTRACT, pageRoutes } from './view/page-routes.ts';
export { pagesOf, read } from './view/pages-of.ts';
export { callsOfPages, plainPages } from './view/plain-pages.ts';
