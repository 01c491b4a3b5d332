/** A mail as it leaves, and whatever takes it. */
import type { MailText } from './mail-text.ts';

export type Mail = MailText & {
  readonly to: string;
  /** Shown by the development mailbox beside the text. */
  readonly link?: string | null;
  readonly code?: string | null;
};

export type MailTransport = {
  /** Resolves when the mail was accepted; throws when it was not. */
  readonly send: (mail: Mail) => Promise<void>;
  readonly close: () => void;
};
