/** How long a deputy may decide, and how far ahead one may be named (`docs/design/approval.md`, Deputies). */

export const DAY_MS = 86_400_000;
export const DEPUTY_DAYS_MAX = 90;
export const DEPUTY_AHEAD_DAYS_MAX = 365;
