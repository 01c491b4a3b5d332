/** A mail as it leaves, and whatever takes it. */
import type { MailText } from './mail-text.ts';

export type Mail = MailText & {
  readonly to: string;
  /** The sender's name in the place of the deployment's own; its address stays. */
  readonly fromName?: string | null;
  readonly replyTo?: string | null;
  /** Shown by the development mailbox beside the text. */
  readonly link?: string | null;
  readonly code?: string | null;
};

export type MailTransport = {
  /** Resolves when the mail was accepted; throws when it was not. */
  readonly send: (mail: Mail) => Promise<void>;
  readonly close: () => void;
};

/** The address of `from` is the one that the mail server may send for; its name may be another. */
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
