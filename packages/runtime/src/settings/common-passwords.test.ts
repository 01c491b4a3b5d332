import { describe, expect, it } from 'vitest';
import { isCommonPassword } from './common-passwords.ts';

describe('a common password', () => {
  it.each(['password', 'PassWord', 'password123', 'iloveyou', 'qwerty123456', '1qaz2wsx3edc'])(
    '%s is known as one',
    (password) => expect(isCommonPassword(password)).toBe(true),
  );

  it.each(['', 'password ', 'correct horse battery', 'a password for the tests', 'Kq7-vtx2-mnp9'])(
    '"%s" is none',
    (password) => expect(isCommonPassword(password)).toBe(false),
  );
});
