/** What a tenant is for; production takes fewer addresses than the others. */
export type Environment = 'development' | 'staging' | 'production';
