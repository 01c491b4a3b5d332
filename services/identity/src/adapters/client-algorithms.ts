/** The algorithms that sign tokens for an application; `Ed25519` is RFC 9864's name of EdDSA with such a key. */
export const CLIENT_ALGORITHMS = ['RS256', 'ES256', 'EdDSA', 'Ed25519'] as const;
export type ClientAlgorithm = (typeof CLIENT_ALGORITHMS)[number];
/** The algorithm that every client of OpenID Connect can verify. */
export const DEFAULT_CLIENT_ALGORITHM: ClientAlgorithm = 'RS256';
