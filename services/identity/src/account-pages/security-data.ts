/** The data that the page about sign-in methods reads. */
export type Named = { readonly id: string; readonly name: string | null };
export type Factor = Named & {
  readonly type?: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
};
export type Linked = { readonly provider: string; readonly linked_at: string };
export type SecurityData = {
  readonly mfa: {
    readonly factors: readonly Factor[];
    readonly recovery_codes_remaining: number;
  };
  readonly keys: { readonly passkeys: readonly Factor[] };
  readonly linked: { readonly identities: readonly Linked[] };
};
