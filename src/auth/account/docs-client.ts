/** The public client that the reference at `/docs` authorizes as; it stands in System from the start. */
export const docsClientId = '00000000-0000-4000-8000-000000000002'

/**
 * Where the reference is given its code, below the issuer: not `/docs` itself, since the window that asked must still
 * reach the one that was opened, which `Cross-Origin-Opener-Policy` forbids to every page but this one.
 */
export const docsRedirectPath = '/docs/signed-in'
