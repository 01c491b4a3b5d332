/**
 * Decides a request to sign the browser out (OpenID Connect RP-Initiated Logout 1.0). An id_token of the signed-in
 * person proves that the request is legitimate. Without one, that person is asked.
 */
import { withParameters } from '../../adapters/answer-parameters.ts';

export type LogoutHint =
  | { readonly status: 'none' }
  /** The hint is not signed by a known key, or no existing client owns it. */
  | { readonly status: 'unverified' }
  | {
      readonly status: 'verified';
      readonly clientId: string;
      readonly tenantId: string;
      readonly userId: string;
    };

export type LogoutRequest = {
  readonly hint: LogoutHint;
  readonly clientId: string | undefined;
  readonly redirectUri: string | undefined;
  /** The redirect URIs of the client that the request or its hint names. Undefined if there is no such client. */
  readonly registeredUris: readonly string[] | undefined;
  readonly signedIn: { readonly tenantId: string; readonly userId: string } | undefined;
};

export type LogoutOutcome =
  /** No session ends. */
  | { readonly status: 'refused' }
  /** The person is asked first. `to` is the address to continue to; if undefined, a page confirms the sign-out. */
  | { readonly status: 'ask'; readonly to: string | undefined }
  | { readonly status: 'sign_out'; readonly to: string | undefined };

export function decideLogout(request: LogoutRequest): LogoutOutcome {
  const { hint, clientId, redirectUri, registeredUris, signedIn } = request;
  const isOther =
    hint.status === 'verified' && clientId !== undefined && clientId !== hint.clientId;
  if (isOther || (clientId !== undefined && registeredUris === undefined)) {
    return { status: 'refused' };
  }
  const isNamed = clientId !== undefined || hint.status === 'verified';
  const isRegistered = redirectUri !== undefined && registeredUris?.includes(redirectUri) === true;
  if (isNamed && redirectUri !== undefined && !isRegistered) return { status: 'refused' };
  const to = isRegistered && hint.status !== 'unverified' ? redirectUri : undefined;
  const isHinted =
    hint.status === 'verified' &&
    hint.userId === signedIn?.userId &&
    hint.tenantId === signedIn.tenantId;
  if (signedIn === undefined || isHinted) return { status: 'sign_out', to };
  return { status: 'ask', to: clientId === undefined ? undefined : to };
}

export const withState = (uri: string, state: string | undefined): string =>
  state === undefined ? uri : withParameters(uri, new URLSearchParams({ state }));
