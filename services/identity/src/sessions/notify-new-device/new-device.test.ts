import { describe, expect, it } from 'vitest';
import { isNewDevice } from './new-device.ts';

const LAPTOP = { browser: 'Firefox', os: 'Linux', device_type: 'desktop', place: 'DE' };

describe('a sign-in from a new device', () => {
  it('is none if it is the first of its account', () => {
    expect(isNewDevice(LAPTOP, [])).toBe(false);
  });

  it('is none if one before was from the same device and place', () => {
    expect(isNewDevice(LAPTOP, [{ ...LAPTOP, place: 'FR' }, LAPTOP])).toBe(false);
  });

  it.each([{ browser: 'Chrome' }, { os: 'Windows' }, { device_type: 'mobile' }, { place: 'FR' }])(
    'is one that differs in %o',
    (other) => {
      expect(isNewDevice({ ...LAPTOP, ...other }, [LAPTOP])).toBe(true);
    },
  );

  it('is one that matches the parts of several, but none of them whole', () => {
    const before = [
      { ...LAPTOP, browser: 'Chrome' },
      { ...LAPTOP, os: 'Windows' },
    ];
    expect(isNewDevice(LAPTOP, before)).toBe(true);
  });
});
