/** A mail to send, and the interface of transports. */
import type { MailText } from './mail-text.ts';

export type Mail = MailText & {
  readonly to: string;
  /** Replaces the deployment's sender name. The sender's address does not change. */
  readonly fromName?: string | null;
  readonly replyTo?: string | null;
  /** Shown by the development mailbox in addition to the text. */
  readonly link?: string | null;
  readonly code?: string | null;
};

export type MailTransport = {
  /** Resolves when the mail was accepted. Throws when it was not. */
  readonly send: (mail: Mail) => Promise<void>;
  readonly close: () => void;
};

/** The sender. The address of `from` is the one for which the mail server may send. The name may differ. */
export function senderOf(
  { fromName, replyTo }: Pick<Mail, 'fromName' | 'replyTo'>,
  from: string,
): {
  readonly from: string | { readonly name: string; readonly address: string };
  readonly replyTo?: { readonly name: string; readonly address: string };
} {
  const address = /<([^>]*)>$/.exec(from)?.[1] ?? from;
  return {
    from: fromName == null ? from : { name: fromName, address },
    ...(replyTo == null ? {} : { replyTo: { name: '', address: replyTo } }),
  };
}
