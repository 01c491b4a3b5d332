/** The purpose of a tenant. A production tenant accepts fewer addresses than the others. */
export type Environment = 'development' | 'staging' | 'production';
