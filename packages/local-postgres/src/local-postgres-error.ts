/** Why a local PostgreSQL could not be started. `code` is stable, the message is for a person. */
export class LocalPostgresError extends Error {
  override readonly name = 'LocalPostgresError';
  readonly code: LocalPostgresFailure;

  constructor(code: LocalPostgresFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export type LocalPostgresFailure =
  /** No binaries for this platform, or they cannot be run. */
  | 'no_binary'
  /** The process runs as root, and no OS user could be found or created to run the server. */
  | 'no_os_user'
  /** The data folder was written by another major version. */
  | 'other_version'
  /** The cluster of this folder does not accept the password. */
  | 'wrong_password'
  | 'not_started';
