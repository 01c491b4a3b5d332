/** Reads the device from a User-Agent header. Unknown parts are empty, never guessed. */
import { computedOnce } from '@cardea/runtime';
import bowser from 'bowser';

export type Device = {
  readonly browser: string;
  readonly browser_version: string;
  readonly os: string;
  readonly os_version: string;
  readonly device_type: 'desktop' | 'mobile' | 'tablet' | 'bot' | null;
};

const UNKNOWN: Device = {
  browser: '',
  browser_version: '',
  os: '',
  os_version: '',
  device_type: null,
};
const BOT = /bot\b|crawl|spider|slurp|headless|^(?:curl|wget|python|go-http|node|okhttp|java)\b/i;
const TYPES = ['desktop', 'mobile', 'tablet', 'bot'] as const;

/** Each sign-in is read several times, and many people use the same browser. */
const DEVICES_MAX = 1_000;
const devices = computedOnce<string, Device>(DEVICES_MAX);

export function deviceOf(userAgent: string | null): Device {
  if (userAgent === null || userAgent.trim() === '') return UNKNOWN; // The library throws for an empty header.
  return devices(userAgent, () => parsed(userAgent));
}

function parsed(userAgent: string): Device {
  const { browser, os, platform } = bowser.parse(userAgent);
  const type = TYPES.find((one) => one === platform.type) ?? null;
  return {
    browser: browser.name ?? '',
    browser_version: browser.version ?? '',
    os: os.name ?? '',
    os_version: os.version ?? '',
    device_type: BOT.test(userAgent) ? 'bot' : type,
  };
}
