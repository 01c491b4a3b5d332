/**
 * The one style sheet of all pages. Colours of the tenant are custom properties, checked for contrast (`branding.ts`).
 * All controls are at least 44 px high.
 */
import { CARD_COLORS } from '@cardea/mail';
import { TONE_CLASSES, TONES, toneProperties } from './tones.ts';

export const STYLE = `
*,*::before,*::after{box-sizing:border-box}
:root{color-scheme:light dark;--card:${CARD_COLORS.light};--text:#1b1f24;--muted:#57606a;--line:#848d97;--soft:#d8dee4;
${toneProperties(TONES.light)}}
@media(prefers-color-scheme:dark){:root{--card:${CARD_COLORS.dark};--text:#e8edf2;--muted:#a9b4c0;--line:#7d8894;
--soft:#333c47;${toneProperties(TONES.dark)}}}
html{background:var(--page);color:var(--text);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,
"Helvetica Neue",Arial,sans-serif;-webkit-text-size-adjust:100%}
body{margin:0;min-height:100vh;min-height:100dvh;display:flex;flex-direction:column;align-items:center;
justify-content:center;padding:1.5rem 1rem;gap:1rem}
main{width:100%;max-width:26rem;background:var(--card);border:1px solid var(--soft);border-radius:.75rem;
padding:2rem;overflow-wrap:anywhere}
main.form{max-width:35rem}
main.wide{max-width:70rem}
header{margin:0 0 1.5rem;font-weight:600;min-height:1.5rem}
header img{display:block;max-height:2.5rem;max-width:60%;object-fit:contain}
@media(prefers-color-scheme:dark){header img{background:#fff;border-radius:.375rem;padding:.25rem .5rem}}
h1,h2{hyphens:auto}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 .5rem}
h2{font-size:1rem;line-height:1.4;margin:1.5rem 0 .5rem}
p{margin:0 0 1rem}
main>p:last-child{margin-bottom:0}
.muted{color:var(--muted)}
form{margin:0}
form+form,form+p,form+.ways,.ways+form{margin-top:.75rem}
.field{margin:0 0 1rem}
label{display:block;font-weight:600;margin:0 0 .25rem}
.hint{display:block;color:var(--muted);font-size:.875rem;margin:.25rem 0 0}
input:not([type=checkbox]),select{display:block;width:100%;min-height:2.75rem;padding:.5rem .75rem;font:inherit;
color:inherit;background:var(--card);border:1px solid var(--line);border-radius:.5rem}
input[aria-invalid=true]{border-color:var(--bad)}
.code input{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:1.25rem;
letter-spacing:.15em}
button,.button{display:block;width:100%;min-height:2.75rem;padding:.5rem 1rem;font:inherit;font-weight:600;
text-align:center;text-decoration:none;cursor:pointer;border-radius:.5rem;border:1px solid var(--line);
background:transparent;color:var(--text)}
a.button{display:flex;align-items:center;justify-content:center}
button.main,.button.main{background:var(--brand);color:var(--on-brand);border-color:var(--brand-line)}
button:hover,.button:hover{filter:brightness(.94)}
button:disabled{opacity:.6;cursor:default}
button.plain{border:0;color:var(--link);text-decoration:underline;font-weight:400;padding:.5rem;width:auto;
margin:0 auto}
button.reveal{margin:0;padding:.5rem 0}
a{color:var(--link)}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.ways{display:grid;gap:.75rem}
.or{display:flex;align-items:center;gap:.75rem;color:var(--muted);margin:1.25rem 0}
.or::before,.or::after{content:"";flex:1;border-top:1px solid var(--soft)}
.alert,.note{border-radius:.5rem;padding:.75rem 1rem;margin:0 0 1.25rem;border:1px solid;
color:var(--ink);background:var(--tint)}
.alert{--ink:var(--bad);--tint:var(--bad-tint)}
.note{--ink:var(--warn);--tint:var(--warn-tint)}
${TONE_CLASSES}
.tag{display:inline-flex;justify-self:start;gap:.375rem;align-items:center;border:1px solid;border-radius:.375rem;padding:0 .5rem;
font-size:.875rem;color:var(--ink);background:var(--tint)}
.alert p,.note p{margin:0}
.alert a,.note a{color:inherit}
.account{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:0 1rem;
border:1px solid var(--soft);border-radius:.5rem;padding:.25rem .25rem .25rem .75rem;margin:0 0 1.25rem}
.account button.plain{margin:0;padding:.5rem 0}
.account form{margin:0}
ul.scopes{list-style:none;margin:0 0 1.25rem;padding:0;border:1px solid var(--soft);border-radius:.5rem}
ul.scopes li{border-top:1px solid var(--soft);padding:.25rem .75rem}
ul.scopes li:first-child{border-top:0}
ul.scopes label,ul.scopes .fixed{display:flex;align-items:center;gap:.75rem;min-height:2.75rem;margin:0;
font-weight:400}
input[type=checkbox]{width:1.25rem;height:1.25rem;margin:0;flex:none;accent-color:var(--brand)}
.fixed::before{content:"\\2713";width:1.25rem;flex:none;text-align:center}
ul.codes{list-style:none;margin:0 0 1.25rem;padding:1rem;border:1px solid var(--soft);border-radius:.5rem;
display:grid;grid-template-columns:repeat(auto-fill,minmax(9rem,1fr));gap:.25rem 1rem}
ul.codes,.secret{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.secret{display:block;user-select:all}
.qr{width:12rem;margin:0 auto 1rem;background:#fff;padding:.5rem;border-radius:.5rem}
.qr svg{display:block;width:100%;height:auto}
dl.facts{margin:0 0 1.25rem}
dl.facts>div{display:grid;grid-template-columns:minmax(7rem,1fr) 2fr;gap:.125rem 1rem;padding:.5rem 0;
border-top:1px solid var(--soft)}
dt{color:var(--muted)}
dd{margin:0}
table.rows{width:100%;border-collapse:collapse;margin:0 0 1.25rem;font-variant-numeric:tabular-nums}
table.rows caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
table.rows th,table.rows td{height:2.5rem;padding:.25rem .75rem;text-align:left;border-top:1px solid var(--soft);
min-width:7.5rem}
table.rows .tag,table.rows button,table.rows .button,table.rows thead th{overflow-wrap:normal}
table.rows thead th{position:sticky;top:0;background:var(--card);color:var(--muted);font-size:.875rem}
table.rows .number{text-align:right}
@media(pointer:coarse){table.rows th,table.rows td{height:2.75rem}}
@media(max-width:56rem){table.rows,table.rows tbody,table.rows tr,table.rows tbody th,
table.rows td{display:block;height:auto}
table.rows thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
table.rows tr{border:1px solid var(--soft);border-radius:.625rem;padding:.5rem 0;margin:0 0 .75rem}
table.rows tbody th,table.rows td{border:0;padding:.25rem .75rem}
table.rows td{display:grid;grid-template-columns:minmax(7rem,1fr) 2fr;gap:.125rem 1rem}
table.rows td::before{content:attr(data-label);color:var(--muted)}
table.rows .number{text-align:left}}
@media(max-width:40rem){dl.facts>div{grid-template-columns:1fr}}
.saves{display:flex;flex-wrap:wrap;gap:.5rem;margin:0 0 1.25rem}
.saves button{flex:1 1 auto;width:auto;padding:.5rem .625rem}
.saves p{flex-basis:100%;margin:0;color:var(--muted)}
.saves p:empty{display:none}
a.button+a.button,section+a.button{margin-top:.75rem}
details{margin:1rem 0}
.mail{white-space:pre-wrap}
.whole{white-space:pre-wrap;overflow-wrap:anywhere}
summary{cursor:pointer;color:var(--link);text-decoration:underline;min-height:2.75rem;padding:.625rem 0}
.heard{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
textarea{display:block;width:100%;padding:.5rem .75rem;font:inherit;color:inherit;background:var(--card);
border:1px solid var(--line);border-radius:.5rem}
[aria-invalid=true]{border-color:var(--bad)}
.fault{display:block;color:var(--bad);font-size:.875rem;margin:.25rem 0 0}
label.choice{display:flex;align-items:center;gap:.75rem;min-height:2.75rem;margin:0;font-weight:400}
fieldset.proof{border:1px solid var(--line);border-radius:.5rem;padding:.75rem 1rem;margin:0 0 1rem;min-width:0}
fieldset.proof button[data-proof]{margin:0 0 1rem}
legend{font-weight:600;padding:0 .25rem}
nav.pages{width:100%;max-width:70rem;display:flex;flex-wrap:wrap;align-items:center;gap:0 1.25rem;
color:var(--page-text)}
nav.pages details{flex:1;margin:0;min-width:0}
nav.pages summary{color:inherit;display:flex;align-items:center;width:max-content;max-width:100%;text-decoration:none;
font-weight:600}
nav.pages summary::before{content:"\\2630" / "";margin-right:.5rem}
nav.pages ul{display:flex;flex-wrap:wrap;gap:0 1.25rem;margin:0;padding:0}
nav.pages li{list-style:none}
nav.pages form{margin-left:auto;align-self:flex-start}
@media(min-width:56.0625rem){@supports selector(::details-content){nav.pages summary{display:none}
nav.pages details::details-content{display:block;content-visibility:visible;block-size:auto}}}
@media(max-width:56rem){nav.pages ul{flex-direction:column;align-items:flex-start}}
body:has(nav.pages){justify-content:flex-start}
nav.pages a,nav.pages button.plain{display:flex;align-items:center;min-height:2.75rem;margin:0;padding:0;
color:inherit;text-decoration:underline}
nav.pages a[aria-current]{font-weight:600;text-decoration:none;box-shadow:inset 0 -2px currentColor}
nav.pages a.skip{position:absolute;left:-200vw}
nav.pages a.skip:focus{position:static}
section{margin:0 0 2rem}
section>h2{font-size:1.25rem;margin:0 0 .5rem}
h1+section{margin-top:1.5rem}
main>:last-child,main>section:last-of-type,.ways>section:last-child{margin-bottom:0}
main>p.cancel{margin-top:.75rem}
main.wide form>button,main.wide a.button,.pager .button,.actions .button,.actions button
{width:auto;display:inline-flex;align-items:center;justify-content:center}
main.wide td .button,main.wide td button{padding:.5rem .75rem}
.actions,.pager{display:flex;flex-wrap:wrap;gap:.75rem;align-items:center;margin:0 0 1.25rem}
.actions a.button+a.button,.pager a.button+a.button{margin-top:0}
td .actions{margin:0}
.filters{display:flex;flex-wrap:wrap;gap:0 1rem;align-items:flex-end;margin:0 0 1rem}
.filters .field{flex:1 1 12rem}
.filters button{width:auto;margin:0 0 1rem}
.api summary{color:var(--muted);font-size:.875rem}
pre{overflow-x:auto;margin:0;padding:.75rem 1rem;border:1px solid var(--soft);border-radius:.5rem;font:13px/1.5
ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
footer{width:100%;max-width:26rem;display:flex;flex-wrap:wrap;gap:0 1.25rem;justify-content:center;
font-size:.875rem}
footer a{color:var(--page-text);padding:.75rem 0}
[hidden]{display:none!important}
@media print{nav,button,.button,footer,.saves{display:none}main{border:0;padding:0}}
@media(max-width:30rem){body{justify-content:flex-start;padding:0;gap:0}
html{background:var(--card)}
main{border:0;border-radius:0;padding:1.5rem 1.25rem}
main,main.form,main.wide{max-width:none}
nav.pages{padding:.5rem 1.25rem 0;color:var(--text)}
main.wide>p>a.button,main.wide section>p>a.button,main.wide section>a.button,main.wide section>div>a.button{display:flex;width:100%}
footer{padding:0 1.25rem 1.5rem}footer a{color:var(--link)}}
`.trim();
